import type { BlobKey } from './port.ts'

/** A file of an archive; `at` is in milliseconds. */
export interface TarFile extends BlobKey {
  readonly path: string
  readonly size: number
  readonly executable: boolean
  readonly at: number
}

const BLOCK = 512
const NAME_BYTES = 100
/** What eleven octal digits can say. */
const MAX_PLAIN_SIZE = 8 ** 11 - 1

/** The whole archive in bytes, known before any of it is read. */
export function tarSize(files: readonly TarFile[]): number {
  const bytes = files.reduce((sum, file) => sum + headOf(file).length + padded(file.size), 0)
  return bytes + 2 * BLOCK
}

/** A POSIX archive, one file at a time: its memory does not depend on its size. Whoever stops reading closes the file at hand. */
export async function* tarOf<File extends TarFile>(
  files: readonly File[],
  read: (file: File) => Promise<AsyncIterable<Uint8Array>>,
): AsyncGenerator<Uint8Array, void> {
  for (const file of files) {
    yield headOf(file)
    if (file.size > 0) yield* await read(file)
    const padding = padded(file.size) - file.size
    if (padding > 0) yield Buffer.alloc(padding)
  }
  yield Buffer.alloc(2 * BLOCK)
}

/** The header, after one that holds what a plain header cannot. */
function headOf(file: TarFile): Buffer {
  const path = Buffer.from(file.path)
  const isPlain = path.length <= NAME_BYTES && path.length === file.path.length && file.size <= MAX_PLAIN_SIZE
  const plain = header(isPlain ? path : Buffer.from(`file-${file.sha256.slice(0, 16)}`), {
    mode: file.executable ? 0o755 : 0o644,
    size: Math.min(file.size, MAX_PLAIN_SIZE),
    at: file.at,
    type: '0',
  })
  if (isPlain) return plain
  const records = Buffer.from(record('path', file.path) + record('size', String(file.size)))
  const extended = Buffer.alloc(padded(records.length))
  records.copy(extended)
  const more = header(Buffer.from('extended'), { mode: 0o644, size: records.length, at: file.at, type: 'x' })
  return Buffer.concat([more, extended, plain])
}

interface HeaderFacts {
  readonly mode: number
  readonly size: number
  readonly at: number
  readonly type: '0' | 'x'
}

function header(name: Buffer, { mode, size, at, type }: HeaderFacts): Buffer {
  const block = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number, offset: number) =>
    block.write(`${value.toString(8).padStart(digits, '0')}\0`, offset, 'latin1')
  name.copy(block, 0)
  octal(mode, 7, 100)
  octal(0, 7, 108)
  octal(0, 7, 116)
  octal(size, 11, 124)
  octal(Math.max(0, Math.floor(at / 1000)), 11, 136)
  block.write('        ', 148, 'latin1')
  block.write(type, 156, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

/** A record begins with its own length, digits included. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  let length = bytes + String(bytes).length
  if (String(length).length > String(bytes).length) length = bytes + String(length).length
  return `${length}${rest}`
}

function padded(bytes: number): number {
  return Math.ceil(bytes / BLOCK) * BLOCK
}

import { Buffer } from 'node:buffer'
import { writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { Header } from 'tar'
import { ZipFile } from 'yazl'

type TarData = ConstructorParameters<typeof Header>[0]
export type TarEntry = Exclude<TarData, Buffer | undefined> & { readonly body?: string | Buffer }

/** A tar with exactly these entries, also ones no honest tool would write. */
export function tarBytes(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap(({ body = '', ...data }) => {
    const bytes = Buffer.from(body)
    const header = new Header({ mode: 0o644, type: 'File', mtime: new Date(0), size: bytes.length, ...data })
    const block = Buffer.alloc(512)
    header.encode(block, 0)
    return [block, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]
  })
  return Buffer.concat([...parts, Buffer.alloc(1024)])
}

export async function writeTar(path: string, entries: readonly TarEntry[], gzip = false): Promise<string> {
  await writeFile(path, gzip ? gzipSync(tarBytes(entries)) : tarBytes(entries))
  return path
}

export interface ZipEntry {
  readonly name: string
  readonly body?: string | Buffer
  readonly mode?: number
}

/** A zip with exactly these names: they are put in afterwards, since no honest tool takes them. */
export async function writeZip(path: string, entries: readonly ZipEntry[]): Promise<string> {
  const zip = new ZipFile()
  entries.forEach(({ name, body = '', mode = 0o100644 }, i) => {
    zip.addBuffer(Buffer.from(body), placeholder(name, i), { mode })
  })
  zip.end()
  const parts: Uint8Array[] = []
  for await (const part of zip.outputStream as unknown as AsyncIterable<Uint8Array>) parts.push(part)
  let bytes = Buffer.concat(parts).toString('latin1')
  entries.forEach(({ name }, i) => {
    bytes = bytes.replaceAll(placeholder(name, i), Buffer.from(name).toString('latin1'))
  })
  await writeFile(path, Buffer.from(bytes, 'latin1'))
  return path
}

function placeholder(name: string, index: number): string {
  return `${String.fromCharCode(0x41 + index)}~`.padEnd(Buffer.byteLength(name), '~')
}

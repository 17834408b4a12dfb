/** A file to pack: a plain relative name and its bytes. */
export interface TarEntry {
  readonly name: string
  readonly bytes: Uint8Array
}

const BLOCK = 512
const MODE = '0000644\0'

/** A ustar archive that is the same bytes for the same files: no times, owners or modes of the packing machine are in it. */
export function packTar(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap(({ name, bytes }) => [header(name, bytes.length), bytes, filling(bytes.length)])
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)])
}

function header(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 100) throw new Error(`a packed name has at most 100 bytes, found ${name}`)
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0)
  block.write(MODE, 100, 'latin1')
  block.write('0000000\0'.repeat(2), 108, 'latin1')
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124, 'latin1')
  block.write(`${'0'.repeat(11)}\0`, 136, 'latin1')
  block.write(' '.repeat(8), 148, 'latin1')
  block.write('0', 156, 'latin1')
  block.write('ustar\x0000', 257, 'latin1')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

function filling(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)
}

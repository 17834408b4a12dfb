import { TAR_END, tarFilling, tarHeader } from './archives/tar-parts.ts'

/** A file to pack: a plain relative name and its bytes. */
export interface TarEntry {
  readonly name: string
  readonly bytes: Uint8Array
}

/** An archive in memory that is the same bytes for the same files. */
export function packTar(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap(({ name, bytes }) => [
    tarHeader({ path: name, kind: 'file', size: bytes.length, executable: false, at: 0 }),
    bytes,
    tarFilling(bytes.length),
  ])
  return Buffer.concat([...parts, TAR_END])
}

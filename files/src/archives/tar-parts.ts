import { Header, Pax } from 'tar'

const BLOCK = 512

/** What a tar says of one entry; `at` is in milliseconds. */
export interface TarFacts {
  readonly path: string
  readonly kind: 'file' | 'folder' | 'link'
  readonly size: number
  readonly executable: boolean
  readonly at: number
  readonly target?: string | undefined
}

/** The header of an entry, after one that holds what a plain header cannot. Nothing of the packing machine is in it. */
export function tarHeader({ path, kind, size, executable, at, target }: TarFacts): Buffer {
  const link = target === undefined ? {} : { linkpath: target }
  const name = kind === 'folder' ? `${path}/` : path
  const header = new Header({
    path: name,
    mode: executable || kind === 'folder' ? 0o755 : 0o644,
    size,
    mtime: new Date(Math.max(0, at)),
    type: ({ folder: 'Directory', link: 'SymbolicLink', file: 'File' } as const)[kind],
    ...link,
  })
  const block = Buffer.alloc(BLOCK)
  if (!header.encode(block, 0)) return block
  return Buffer.concat([new Pax({ path: name, size, ...link }).encode(), block])
}

/** What follows an entry's bytes so that the next one begins at a block. */
export function tarFilling(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK)
}

export const TAR_END: Buffer = Buffer.alloc(2 * BLOCK)

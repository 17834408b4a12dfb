import { createWriteStream } from 'node:fs'
import { link, mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { hasCode } from '../absent.ts'
import { ArchiveRefused } from './archive-refused.ts'
import { entryName, staysInside } from './entry-name.ts'

/** What an archive may become; each limit is named when it refuses. */
export interface UnpackLimits {
  readonly maxBytes: number
  readonly maxEntries: number
  /** Unpacked bytes per byte of the archive, looked at once `ratioFromBytes` are unpacked: small text compresses well. */
  readonly maxRatio: number
  readonly ratioFromBytes: number
  readonly maxNameBytes: number
}

/** Wide enough for data sets, narrow enough that a bomb stops long before the disk. */
export const UNPACK_LIMITS: UnpackLimits = {
  maxBytes: 200e9,
  maxEntries: 1_000_000,
  maxRatio: 250,
  ratioFromBytes: 256e6,
  maxNameBytes: 1024,
}

/**
 * Puts the entries of one archive below a fresh folder. Everything is created anew and exclusively, parents must be folders
 * made here, so nothing is ever written through a link or over another entry, whatever the file system thinks of case.
 */
export class Unpacking {
  readonly #root: string
  readonly #archiveBytes: number
  readonly #limits: UnpackLimits
  readonly #folders = new Set<string>()
  readonly #files = new Set<string>()
  #entries = 0
  #bytes = 0

  constructor(root: string, archiveBytes: number, limits: UnpackLimits) {
    this.#root = root
    this.#archiveBytes = archiveBytes
    this.#limits = limits
  }

  async folder(raw: string): Promise<void> {
    const name = this.#next(raw)
    if (name !== null) await this.#makeFolders(name, raw)
  }

  async file(raw: string, mode: number, body: NodeJS.ReadableStream | AsyncIterable<Uint8Array>): Promise<void> {
    const name = await this.#place(raw)
    const perms = (mode & 0o111) === 0 ? 0o644 : 0o755
    await this.#created(raw, () =>
      pipeline(body, this.#counting(raw), createWriteStream(join(this.#root, name), { flags: 'wx', mode: perms })),
    )
    this.#files.add(name)
  }

  async symbolicLink(raw: string, target: string): Promise<void> {
    const name = await this.#place(raw)
    if (!staysInside(name, target))
      throw new ArchiveRefused(
        `entry ${quote(raw)} is refused: the link to ${quote(target)} could lead outside of the archive`,
      )
    await this.#created(raw, () => symlink(target, join(this.#root, name)))
  }

  async hardLink(raw: string, target: string): Promise<void> {
    const name = await this.#place(raw)
    const to = entryName(target, this.#limits.maxNameBytes)
    if (to === null || !this.#files.has(to))
      throw new ArchiveRefused(
        `entry ${quote(raw)} is refused: it links to ${quote(target)}, which is no file unpacked before it`,
      )
    await this.#created(raw, () => link(join(this.#root, to), join(this.#root, name)))
    this.#files.add(name)
  }

  refuse(raw: string, kind: string): never {
    throw new ArchiveRefused(
      `entry ${quote(raw)} is refused: it is a ${kind}, only files, folders and links are unpacked`,
    )
  }

  #next(raw: string): string | null {
    this.#entries += 1
    if (this.#entries > this.#limits.maxEntries)
      throw new ArchiveRefused(
        `entry ${quote(raw)} is refused: the archive has more than ${this.#limits.maxEntries} entries`,
      )
    return entryName(raw, this.#limits.maxNameBytes)
  }

  async #place(raw: string): Promise<string> {
    const name = this.#next(raw)
    if (name === null) throw new ArchiveRefused(`entry ${quote(raw)} is refused: it has no name of its own`)
    const parent = dirname(name)
    if (parent !== '.') await this.#makeFolders(parent, raw)
    return name
  }

  async #makeFolders(name: string, raw: string): Promise<void> {
    if (this.#folders.has(name)) return
    const parent = dirname(name)
    if (parent !== '.') await this.#makeFolders(parent, raw)
    await this.#created(raw, () => mkdir(join(this.#root, name), { mode: 0o755 }))
    this.#folders.add(name)
  }

  async #created(raw: string, create: () => Promise<unknown>): Promise<void> {
    try {
      await create()
    } catch (cause) {
      if (!hasCode(cause, 'EEXIST')) throw cause
      throw new ArchiveRefused(`entry ${quote(raw)} is refused: its place is taken by another entry`, { cause })
    }
  }

  #counting(raw: string): Transform {
    const count = (bytes: number) => this.#count(raw, bytes)
    return new Transform({
      transform(chunk: Buffer, _, done) {
        const refused = count(chunk.length)
        if (refused === null) done(null, chunk)
        else done(refused)
      },
    })
  }

  #count(raw: string, bytes: number): ArchiveRefused | null {
    const { maxBytes, maxRatio, ratioFromBytes } = this.#limits
    this.#bytes += bytes
    if (this.#bytes > maxBytes)
      return new ArchiveRefused(`entry ${quote(raw)} is refused: the archive unpacks to more than ${maxBytes} bytes`)
    if (this.#bytes > ratioFromBytes && this.#bytes > maxRatio * this.#archiveBytes)
      return new ArchiveRefused(
        `entry ${quote(raw)} is refused: ${this.#archiveBytes} bytes of archive became more than ${maxRatio} times as many`,
      )
    return null
  }
}

function quote(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}

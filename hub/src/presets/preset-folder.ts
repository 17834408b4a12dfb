import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, type Log, readJsonOr, writeAtomic } from '@stoker/files'
import { z } from 'zod'
import { FILE_NAMES, type FileText, type FileTexts, type GoodTexts, type Loaded, loadPresets } from './load-presets.ts'
import type { CheckSpec, PresetBook } from './preset.ts'
import type { PresetFile } from './preset-files.ts'
import { type SeenFile, seeFile } from './see-file.ts'
import type { Settings } from './settings.ts'

export interface PresetFolderPorts {
  readonly folder: string
  /** Where the last good texts are kept over restarts. */
  readonly keptFile: string
  readonly settings: Settings
  /** What `~` means. */
  readonly home: string
  readonly check: CheckSpec
  readonly now: () => number
  readonly log: Log
}

/** The presets in force: every look finds edits, a broken edit changes nothing but the errors. */
export class PresetFolder {
  readonly #ports: PresetFolderPorts
  readonly #seen = new Map<PresetFile, SeenFile>()
  readonly #listeners = new Set<(book: PresetBook) => void>()
  #loaded: Loaded
  #looking: Promise<void> | null = null
  #next: Promise<void> | null = null

  private constructor(ports: PresetFolderPorts, good: GoodTexts) {
    this.#ports = ports
    this.#loaded = { book: { folder: ports.folder, presets: new Map(), errors: [] }, good }
  }

  static async open(ports: PresetFolderPorts): Promise<PresetFolder> {
    const folder = new PresetFolder(ports, await keptIn(ports))
    await folder.current()
    return folder
  }

  /** As the files are now: a look that began before this call does not count, calls that wait share the next one. */
  async current(): Promise<PresetBook> {
    if (this.#looking === null) await this.#start()
    else {
      this.#next ??= this.#looking.then(() => {
        this.#next = null
        return this.#start()
      })
      await this.#next
    }
    return this.#loaded.book
  }

  onChange(listener: (book: PresetBook) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #start(): Promise<void> {
    this.#looking = this.#look().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  /** Most hubs have no presets: one question a second is enough for them. */
  get #hadNone(): boolean {
    return this.#seen.size > 0 && [...this.#seen.values()].every(({ text }) => text === null)
  }

  async #look(): Promise<void> {
    const { folder, now } = this.#ports
    if (this.#hadNone && (await isAbsent(folder))) return
    const found = await Promise.all(
      FILE_NAMES.map(async name => [name, await seeFile(join(folder, name), this.#seen.get(name), now())] as const),
    )
    const isNew = ([name, { text }]: (typeof found)[number]) => !isSame(this.#seen.get(name)?.text ?? null, text)
    const hasChanged = found.some(isNew)
    for (const [name, seen] of found) this.#seen.set(name, seen)
    if (hasChanged) await this.#load(Object.fromEntries(found.map(([name, { text }]) => [name, text])))
  }

  async #load(texts: Readonly<Record<string, FileText>>): Promise<void> {
    const { keptFile, log } = this.#ports
    const before = this.#loaded
    this.#loaded = loadPresets(texts as FileTexts, before.good, this.#ports)
    const { book, good } = this.#loaded
    for (const { file, line, column, message } of book.errors)
      log('warn', `presets: ${join(book.folder, file)}:${line}:${column}: ${message}`)
    log('info', `presets: ${book.presets.size} in force from ${book.folder}`)
    if (!isSame(before.good, good))
      await writeAtomic(keptFile, JSON.stringify(good), { mode: 0o600 }).catch(error =>
        log('warn', `presets: the good version is not kept for a restart: ${error}`),
      )
    for (const listener of this.#listeners) listener(book)
  }
}

const Kept = z.partialRecord(z.enum(FILE_NAMES), z.string())

async function keptIn({ keptFile, log }: PresetFolderPorts): Promise<GoodTexts> {
  try {
    return Kept.parse(await readJsonOr(keptFile, {})) as GoodTexts
  } catch (error) {
    log('warn', `presets: the last good version cannot be read: ${error}`)
    return {}
  }
}

async function isAbsent(path: string): Promise<boolean> {
  return access(path).then(
    () => false,
    error => hasCode(error, 'ENOENT'),
  )
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

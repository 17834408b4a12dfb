import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { type Fence, fenceKey, Offer } from '@stoker/protocol'
import { withoutSecrets } from './secrets.ts'

/** Each attempt has one folder, named by its fence: the offer, the program's work folder, its output, its exit record. */
export class Workspaces {
  readonly #root: string
  readonly #known = new Set<string>()
  /**
   * Folders for coming attempts, with our own files in them, which are written anew in place: making and removing files
   * costs more than starting a program on some file systems.
   */
  readonly #spare: string[] = []
  #spares = 0

  constructor(root: string) {
    this.#root = root
  }

  folderOf(fence: Fence): string {
    return this.folderOfKey(fenceKey(fence))
  }

  folderOfKey(key: string): string {
    return join(this.#root, key)
  }

  /** The offer is kept beside the work, so that a restarted worker knows what it holds. */
  make(offer: Offer): string {
    const folder = this.folderOf(offer.fence)
    this.#known.add(fenceKey(offer.fence))
    const spare = this.#spare.pop()
    const text = `${JSON.stringify(withoutSecrets(offer))}\n`
    if (spare !== undefined) {
      writeFileSync(join(spare, 'offer.json'), text, { flag: 'r+' })
      renameSync(spare, folder)
      return folder
    }
    mkdirSync(folder, { mode: 0o700 })
    mkdirSync(join(folder, 'work'), { mode: 0o700 })
    writeFileSync(join(folder, 'offer.json'), text, { mode: 0o600 })
    return folder
  }

  /** From here until `fetched` a worker that is killed begins with the inputs anew. */
  fetching(fence: Fence): void {
    writeFileSync(join(this.folderOf(fence), FETCHING), '', { mode: 0o600 })
  }

  fetched(fence: Fence): void {
    unlinkSync(join(this.folderOf(fence), FETCHING))
  }

  wasFetching(key: string): boolean {
    return existsSync(join(this.folderOfKey(key), FETCHING))
  }

  /** The folder of an attempt whose inputs were only partly there, empty again but for what was said: some of it may be sent already. */
  async makeAgain(offer: Offer): Promise<string> {
    const folder = this.folderOf(offer.fence)
    const left = (await readdir(folder)).filter(name => !['offer.json', 'stderr', FETCHING].includes(name))
    for (const name of left) await removeTree(join(folder, name))
    mkdirSync(join(folder, 'work'), { mode: 0o700 })
    return folder
  }

  /** Inline attempts have no folder: nothing is looked for then. */
  async remove(fence: Fence): Promise<void> {
    if (!this.#known.delete(fenceKey(fence))) return
    const folder = this.folderOf(fence)
    if (this.#spare.length < MOST_SPARE && isAsNew(folder)) this.#keep(folder)
    else await removeTree(folder)
  }

  #keep(folder: string): void {
    this.#spares += 1
    const spare = join(this.#root, `${SPARE}${this.#spares}`)
    renameSync(folder, spare)
    this.#spare.push(spare)
  }

  /** All attempts an earlier worker process left, with what is still readable of their offers. */
  async left(): Promise<readonly { readonly key: string; readonly offer: Offer | null }[]> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 })
    const names = await readdir(this.#root)
    for (const spare of names.filter(name => name.startsWith(SPARE))) await removeTree(join(this.#root, spare))
    const keys = names.filter(name => !name.startsWith(SPARE))
    for (const key of keys) this.#known.add(key)
    return Promise.all(keys.map(async key => ({ key, offer: await readOffer(join(this.#root, key, 'offer.json')) })))
  }

  async removeKey(key: string): Promise<void> {
    this.#known.delete(key)
    await removeTree(this.folderOfKey(key))
  }
}

async function readOffer(path: string): Promise<Offer | null> {
  try {
    const [line = ''] = (await readFile(path, 'utf8')).split('\n', 1)
    return Offer.parse(JSON.parse(line))
  } catch {
    return null
  }
}

/** There while inputs are fetched: no program was started yet, so a restarted worker may begin anew. */
const FETCHING = 'fetching'
const SPARE = 'spare-'
const MOST_SPARE = 64
/** Above this a file takes so long to empty that it must not be done at once. */
const QUICK_BYTES = 1_000_000

/** What the next attempt writes over, and output, which is emptied for it; a folder with anything else is of no further use. */
const KEPT = ['offer.json', 'exit.json', 'work']
const OUTPUT = ['stdout', 'stderr']

/** Most programs leave an empty work folder and little output: then the folder can serve again. */
function isAsNew(folder: string): boolean {
  try {
    const work = join(folder, 'work')
    const { mode, uid } = lstatSync(work)
    if ((mode & 0o777) !== 0o700 || uid !== OWN_UID || readdirSync(work).length > 0) return false
    const others = readdirSync(folder).filter(name => !KEPT.includes(name))
    return others.every(name => OUTPUT.includes(name) && isEmptied(join(folder, name)))
  } catch {
    return false
  }
}

const OWN_UID = process.getuid?.()

/** A file that also has another name is not ours alone. */
function isEmptied(path: string): boolean {
  const found = lstatSync(path)
  if (!found.isFile() || found.nlink > 1 || found.size > QUICK_BYTES) return false
  if (found.size > 0) truncateSync(path)
  return true
}

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { type Fence, fenceKey, Offer } from '@stoker/protocol'

/** Each attempt has one folder, named by its fence: the offer, the program's work folder, its output, its exit record. */
export class Workspaces {
  readonly #root: string
  readonly #known = new Set<string>()

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
  async make(offer: Offer): Promise<string> {
    const folder = this.folderOf(offer.fence)
    this.#known.add(fenceKey(offer.fence))
    await mkdir(join(folder, 'work'), { recursive: true, mode: 0o700 })
    await writeFile(join(folder, 'offer.json'), JSON.stringify(offer), { mode: 0o600 })
    return folder
  }

  /** Inline attempts have no folder: nothing is looked for then. */
  async remove(fence: Fence): Promise<void> {
    if (this.#known.delete(fenceKey(fence))) await removeTree(this.folderOf(fence))
  }

  /** All attempts an earlier worker process left, with what is still readable of their offers. */
  async left(): Promise<readonly { readonly key: string; readonly offer: Offer | null }[]> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 })
    const keys = await readdir(this.#root)
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
    return Offer.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    return null
  }
}

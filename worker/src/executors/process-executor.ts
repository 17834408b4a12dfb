import { mkdir, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { keeperContainer } from './container-request.ts'
import type { KeeperOrder } from './keeper-wire.ts'
import { checkSocketPath } from './line-channel.ts'
import type { Execution, Executor, LaunchOrder } from './port.ts'
import { describeSystem, sandboxOptions } from './sandbox.ts'
import { Slot } from './slot.ts'
import { Zygote } from './zygote.ts'

const ABANDONED_AFTER_MS = 5 * 60_000
/** Above what distributions give to people, services and their sub-uid ranges of the first users. */
const FIRST_UID = 200_000
/** An engine that went away in the middle of an attempt may have kept its container. */
const STRAYS_AGAIN_MS = 60_000
const TOOL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const KEY = /^[a-z0-9-]{1,80}$/

/** What the worker's configuration decides about programs. */
export interface ProcessExecutorOptions {
  /** Holds sockets and state; short, private to this worker, and the same after its restart. */
  readonly runtimeDir: string
  /** An interpreter of 3.10 or later; it runs the keepers, not the programs. */
  readonly python: string
  readonly slots: number
  /** How long programs run on and keepers wait with no worker attached. */
  readonly idleMs?: number | undefined
  /** A root worker's sandboxes run as this uid plus the slot's number. */
  readonly firstUid?: number | undefined
  /** Where bwrap, setpriv, prlimit and slirp4netns are looked for. */
  readonly toolPath?: string | undefined
  /** Ends containers of an earlier life, whose attempts nobody holds; rejects when it has to be tried again. */
  readonly removeStrays?: ((isHeld: (attempt: string) => boolean) => Promise<void>) | undefined
}

/** Programs started by keepers, so they survive the worker; one slot runs one attempt at a time. */
export function createProcessExecutor(options: ProcessExecutorOptions): Executor {
  const folder = resolve(options.runtimeDir)
  checkSocketPath(join(folder, 'zygote.sock~'))
  return new ProcessExecutor({ ...options, runtimeDir: folder })
}

class ProcessExecutor implements Executor {
  readonly #options: ProcessExecutorOptions
  readonly #zygote: Zygote
  readonly #slots: Slot[] = []
  readonly #free: Slot[] = []
  #system: Awaited<ReturnType<typeof describeSystem>> | null = null
  #found: Promise<readonly Execution[]> | null = null
  readonly #held = new Set<string>()
  #straysGoneAt = Number.NEGATIVE_INFINITY

  constructor(options: ProcessExecutorOptions) {
    const { runtimeDir, python, idleMs = ABANDONED_AFTER_MS, toolPath = TOOL_PATH } = options
    this.#options = options
    this.#zygote = new Zygote({ runtimeDir, python, idleMs, toolPath })
  }

  async start(order: LaunchOrder): Promise<Execution> {
    if (!KEY.test(order.key)) throw new Error(`attempt key ${JSON.stringify(order.key)} does not match ${KEY}`)
    if ((order.container !== null) !== (order.isolation === 'container'))
      throw new Error(
        `attempt ${order.key} has isolation ${order.isolation}: a container is ordered with it, and only then`,
      )
    if (order.argv.length === 0 && order.container === null)
      throw new Error(`attempt ${order.key} names no program: argv is empty`)
    await this.reattach()
    if (order.container !== null) await this.#lookForStrays()
    const slot = this.#free.pop()
    if (slot === undefined)
      throw new Error(`attempt ${order.key} needs a free slot, all ${this.#options.slots} hold one`)
    const free = () => {
      this.#held.delete(order.key)
      this.#free.push(slot)
    }
    this.#held.add(order.key)
    try {
      return await slot.launch(await this.#keeperOrder(order, slot.number), free)
    } catch (error) {
      free()
      throw error
    }
  }

  /** Looked for once: what a first, failed look has already connected is not taken over twice. */
  reattach(): Promise<readonly Execution[]> {
    this.#found ??= this.#find()
    return this.#found
  }

  async close(how: 'leave-running' | 'kill'): Promise<void> {
    await this.#found?.catch(() => [])
    await Promise.all(this.#slots.map(slot => slot.close(how === 'kill' ? 'quit' : 'detach')))
    await this.#zygote.close()
  }

  /** Slots of an earlier, larger configuration are kept until released, and then not used again. */
  async #find(): Promise<readonly Execution[]> {
    const { runtimeDir, slots } = this.#options
    await mkdir(runtimeDir, { recursive: true, mode: 0o700 })
    const names = await readdir(runtimeDir)
    const used = names.flatMap(name => /^k(\d+)\.json$/.exec(name)?.[1] ?? []).map(Number)
    const numbers = [...new Set([...Array(slots).keys(), ...used])].sort((a, b) => b - a)
    const found: Execution[] = []
    for (const number of numbers) {
      const slot = new Slot(number, runtimeDir, this.#zygote)
      this.#slots.push(slot)
      let key = ''
      const free = () => {
        this.#held.delete(key)
        if (number < slots) this.#free.push(slot)
      }
      const execution = used.includes(number) ? await slot.adopt(free) : null
      if (execution === null) free()
      else found.push(execution)
      key = execution?.key ?? ''
      if (key !== '') this.#held.add(key)
    }
    await this.#lookForStrays()
    return found
  }

  /** An engine that does not answer is asked again with the next container, and one that was well now and then. */
  async #lookForStrays(): Promise<void> {
    const { removeStrays } = this.#options
    if (removeStrays === undefined || performance.now() < this.#straysGoneAt + STRAYS_AGAIN_MS) return
    const from = performance.now()
    const isGone = removeStrays(key => this.#held.has(key)).then(
      () => true,
      () => false,
    )
    if (await isGone) this.#straysGoneAt = from
  }

  async #keeperOrder(order: LaunchOrder, slot: number): Promise<KeeperOrder> {
    const { isolation, network, folder: given, devices: _, visiblePaths: __, container: ___, ...rest } = order
    const folder = resolve(given)
    if (isolation === 'none') return { folder, sandbox: null, container: null, ...rest }
    if (isolation === 'container') return { folder, sandbox: null, container: keeperContainer(order), ...rest }
    this.#system ??= await describeSystem(this.#options.toolPath ?? TOOL_PATH)
    const uid = process.getuid?.() === 0 ? (this.#options.firstUid ?? FIRST_UID) + slot : null
    const options = sandboxOptions({ ...order, folder }, this.#system)
    const sandbox = { uid, internet: network === 'internet', offline: network === 'none', ...options }
    return { folder, sandbox, container: null, ...rest }
  }
}

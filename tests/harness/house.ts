import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '@stoker/client'
import { removeTree } from '@stoker/files'
import { freePort } from '@stoker/net'
import { expect, vi } from 'vitest'
import { ChildProgram, type ProgramOptions } from './child-program.ts'
import { bundles } from './config.ts'
import { isGone, leftOver } from './left-over.ts'
import { processesWith } from './processes.ts'

type Start = Pick<ProgramOptions, 'nodeArgs' | 'env' | 'inside'>

export interface HubStart extends Start {
  /** Another data folder than the house's own, below its root. */
  readonly data?: string | undefined
  readonly port?: number | undefined
  readonly args?: readonly string[] | undefined
}

export interface WorkerStart extends Start {
  readonly hubUrl?: string | undefined
  readonly args?: readonly string[] | undefined
  /** False leaves out the join token: a worker that is known needs none. */
  readonly joins?: boolean | undefined
}

/** One hub's address and folders, and all processes a test starts; `close` ends them and proves that nothing is left. */
export class House {
  readonly root: string
  readonly port: number
  readonly url: string
  readonly #programs: ChildProgram[] = []
  readonly #clients: Client[] = []
  readonly #isSound: boolean
  /** Names of the hub's attempts carry these. */
  readonly #epochs = new Set<number>()
  #client: Client | null = null

  private constructor(root: string, port: number, isSound: boolean) {
    this.#isSound = isSound
    this.root = root
    this.port = port
    this.url = `http://127.0.0.1:${port}`
  }

  /** A test that damages the hub's data says so: all others must leave it sound. */
  static async open({ damaged = false }: { readonly damaged?: boolean } = {}): Promise<House> {
    return new House(await mkdtemp(join(tmpdir(), 'stoker-house-')), await freePort(), !damaged)
  }

  path(...parts: readonly string[]): string {
    return join(this.root, ...parts)
  }

  /** With the hub's first token; the hub must have started once. */
  get client(): Client {
    if (this.#client === null) throw new Error('a house has a client once its hub has started, it has not')
    return this.#client
  }

  clientOf(url: string, token: string): Client {
    const client = createClient({ url, token })
    this.#clients.push(client)
    return client
  }

  program(options: ProgramOptions): ChildProgram {
    return this.#run(options)
  }

  /** The command line, with the hub's first token. */
  async stoker(args: readonly string[], start: Start = {}): Promise<ChildProgram> {
    const token = (await readFile(this.path('hub', 'admin-token'), 'utf8')).trim()
    const env = { STOKER_HOME: this.path('home'), STOKER_URL: this.url, STOKER_TOKEN: token, ...start.env }
    const program = this.#run({ script: join(bundles, 'stoker.js'), args, ...start, env })
    await program.exited
    return program
  }

  /** Runs a program of the hub without waiting for anything. */
  hubProgram(args: readonly string[], start: Start = {}): ChildProgram {
    return this.#run({ script: join(bundles, 'hub.js'), args, ...start })
  }

  workerProgram(args: readonly string[], start: Start = {}): ChildProgram {
    return this.#run({ script: join(bundles, 'worker.js'), args, ...start })
  }

  /** Resolves when it answers; the same data and port every time unless told otherwise. */
  async startHub({ data = 'hub', port = this.port, args = [], ...start }: HubStart = {}): Promise<ChildProgram> {
    const hub = this.hubProgram(['serve', '--data', this.path(data), '--port', String(port), ...args], start)
    this.#epochs.add(Number((await hub.ready()).epoch))
    const token = (await readFile(this.path('hub', 'admin-token'), 'utf8')).trim()
    this.#client ??= this.clientOf(this.url, token)
    return hub
  }

  /** Resolves when the hub welcomed it. It may run programs as they are, since the tests are its owner. */
  async startWorker(name: string, start: WorkerStart = {}): Promise<ChildProgram> {
    const worker = await this.launchWorker(name, start)
    await worker.ready()
    return worker
  }

  async launchWorker(name: string, { hubUrl = this.url, args = [], joins = true, ...start }: WorkerStart = {}) {
    const secret = joins ? (await this.client.createToken({ role: 'join' })).secret : null
    const join = secret === null ? [] : ['--join', secret]
    const common = ['--hub', hubUrl, '--data', this.path(name), '--name', name, '--allow-unsandboxed']
    return this.workerProgram([...common, ...join, ...args], start)
  }

  /** Kills what keeps a worker's programs, as the loss of its machine would. */
  async killKeepers(name: string): Promise<void> {
    const keepers = (await processesWith(this.path(name, 'run'))).filter(({ command }) => command.includes('keeper.py'))
    expect(keepers.length).toBeGreaterThan(0)
    for (const { pid } of keepers) process.kill(pid, 'SIGKILL')
  }

  /** In the order that lets workers say goodbye to a living hub. */
  async endPrograms(): Promise<void> {
    for (const client of this.#clients) client.close()
    for (const program of this.#programs.toReversed()) {
      program.signal('SIGCONT')
      if (!program.isOver) await program.stop()
    }
  }

  /** The hub's own checker finds every guarantee kept in what the test left behind. */
  async expectSound(data = 'hub'): Promise<void> {
    const checker = this.hubProgram(['verify', '--data', this.path(data)])
    const { code } = await checker.exited
    expect({ code, found: code === 0 ? '' : `${checker.stdout}${checker.stderr}` }).toEqual({ code: 0, found: '' })
  }

  async close(): Promise<void> {
    await this.endPrograms()
    try {
      if (this.#isSound && !(await isGone(this.path('hub', 'stoker.db')))) await this.expectSound()
      await vi.waitFor(async () => expect(await leftOver(this.root, this.#epochs)).toEqual([]), { timeout: 10_000 })
    } finally {
      for (const { pid } of await processesWith(this.root)) tryKill(pid)
      await removeTree(this.root)
    }
    expect(await isGone(this.root)).toBe(true)
  }

  #run(options: ProgramOptions): ChildProgram {
    const program = new ChildProgram(options)
    this.#programs.push(program)
    return program
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself meanwhile.
  }
}

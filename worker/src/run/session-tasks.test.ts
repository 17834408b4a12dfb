import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { type EndedReport, type Fence, fenceKey, type Offer } from '@stoker/protocol'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { LineCutter } from '../events/line-cutter.ts'
import { ProgramWatch } from '../events/program-watch.ts'
import { SessionJournal } from './session-journal.ts'
import { SessionTasks } from './session-tasks.ts'
import { aSession, aTask } from './test-session-bench.ts'
import { Workspaces } from './workspace.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stoker-'))
})
afterEach(() => removeTree(root))

/** One thing that happens: the hub gives a task, the program prints about one of those it has, or the worker is killed. */
type Step =
  | { readonly give: true }
  | { readonly say: 'text' | 'finish' | 'garbage' | 'much'; readonly to: number }
  | { readonly die: true }

const step = (mayDie: boolean): fc.Arbitrary<Step> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant({ give: true } as const) },
    { weight: 6, arbitrary: fc.record({ say: fc.constantFrom('text', 'finish', 'garbage', 'much'), to: fc.nat(5) }) },
    { weight: mayDie ? 2 : 0, arbitrary: fc.constant({ die: true } as const) },
  )

it('whenever its worker is killed, every line and every end of a task is as if it had not been', () => {
  let runs = 0
  fc.assert(
    fc.property(fc.constantFrom(1, 3), fc.array(step(true), { maxLength: 60 }), (concurrency, steps) => {
      runs += 1
      const killed = play(join(root, `killed-${runs}`), concurrency, steps)
      const whole = play(
        join(root, `whole-${runs}`),
        concurrency,
        steps.filter(each => !('die' in each)),
      )
      expect(killed).toEqual(whole)
    }),
    { numRuns: 30 },
  )
})

/** Everything that can be seen afterwards: what each task got, how it ended, and what was nobody's. */
function play(folder: string, concurrency: number, steps: readonly Step[]) {
  const world = new World(folder, concurrency)
  for (const each of steps) world.take(each)
  return world.seen()
}

class World {
  readonly #session: Offer
  readonly #folder: string
  readonly #workspaces: Workspaces
  readonly #ends = new Map<string, EndedReport>()
  readonly #offers = new Map<string, Offer>()
  /** What the program has been given and did not finish, in order. */
  readonly #inHand: string[] = []
  readonly #given = new Set<number>()
  #stdout = Buffer.alloc(0)
  #job = 1
  #tasks: SessionTasks
  #cutter = new LineCutter()
  #heard = 0

  constructor(folder: string, concurrency: number) {
    mkdirSync(folder)
    this.#session = aSession({ concurrency })
    this.#workspaces = new Workspaces(folder)
    this.#folder = this.#workspaces.make(this.#session)
    this.#tasks = this.#begin()
  }

  take(step: Step): void {
    if ('give' in step) this.#give()
    else if ('die' in step) this.#tasks = this.#begin()
    else this.#say(step.say, step.to)
  }

  seen() {
    const own = this.#tasks.own.size === 0 ? '' : readFileSync(join(this.#folder, 'stdout'), 'utf8')
    const ends = [...this.#ends].map(([key, { outcome, result }]) => [key, outcome, result])
    const files = [...this.#ends.values()].map(({ fence }) => this.#stdoutOf(fence))
    return { own: own.slice(0, this.#tasks.own.size), ends, files }
  }

  #stdoutOf(fence: Fence): string {
    return readFileSync(join(this.#workspaces.folderOf(fence), 'stdout'), 'utf8')
  }

  #give(): void {
    this.#job += 1
    const offer = aTask(this.#job, this.#session)
    this.#offers.set(fenceKey(offer.fence), offer)
    this.#tasks.take(offer)
  }

  #say(what: 'text' | 'finish' | 'garbage' | 'much', to: number): void {
    const id = this.#inHand[to % Math.max(1, this.#inHand.length)]
    if (what === 'finish' && id !== undefined) this.#inHand.splice(this.#inHand.indexOf(id), 1)
    const word = { text: () => JSON.stringify({ event: 'text', task_id: id, content: `${this.#stdout.length}` }) }
    const line = {
      text: word.text,
      finish: () => JSON.stringify({ event: 'finish', data: { task_id: id, status: 'completed' } }),
      garbage: () => `{ garbage ${this.#stdout.length}`,
      much: () => 'much '.repeat(500_000),
    }[what]()
    const bytes = Buffer.from(`${line}\n`)
    this.#stdout = Buffer.concat([this.#stdout, bytes])
    this.#hear(bytes)
  }

  #hear(bytes: Buffer): void {
    for (const piece of this.#cutter.push(bytes)) this.#tasks.hear(piece)
    this.#tasks.flush()
  }

  #begin(): SessionTasks {
    const journal = new SessionJournal(this.#folder)
    expect(journal.heard.at).toBeGreaterThanOrEqual(this.#heard)
    const left = new Map([...this.#offers].filter(([key]) => !this.#ends.has(key)))
    const silent = { output: () => {}, progress: () => {}, ready: () => {} }
    const report = (reports: readonly { kind: string }[]) => {
      for (const each of reports as readonly EndedReport[]) if (each.kind === 'ended') this.#end(each)
    }
    const more = { workspaces: this.#workspaces, now: () => 1, journal, timedOut: () => {}, idle: () => {} }
    const ports = {
      ...{ ...more, delivery: { ...silent, report }, watch: new ProgramWatch(() => {}) },
      give: (n: number, line: string) => this.#read(n, line),
      heard: (at: number) => {
        this.#heard = at
      },
    }
    this.#tasks = new SessionTasks(this.#session, this.#folder, ports, left)
    this.#cutter = new LineCutter(journal.heard.at)
    this.#hear(this.#stdout.subarray(journal.heard.at))
    this.#tasks.resumed()
    return this.#tasks
  }

  /** As the keeper: a number is written once. */
  #read(n: number, line: string): void {
    if (this.#given.has(n)) return
    this.#given.add(n)
    this.#inHand.push(JSON.parse(line).task_id)
  }

  #end(report: EndedReport): void {
    const key = fenceKey(report.fence)
    expect(this.#ends.has(key)).toBe(false)
    this.#ends.set(key, report)
  }
}

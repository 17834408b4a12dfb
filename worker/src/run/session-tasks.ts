import { join } from 'node:path'
import { eventIn, type Fence, fenceKey, type Holding, type Offer } from '@stoker/protocol'
import { eventText, type Piece } from '../events/line-cutter.ts'
import type { ProgramWatch } from '../events/program-watch.ts'
import type { Delivery } from './delivery.ts'
import { EMPTY_FILE, LineFile, type LineFileState } from './line-file.ts'
import { type ProgramFate, unstartedReport } from './program-end.ts'
import type { HandedOver, SessionJournal, Stopped } from './session-journal.ts'
import { type SessionEnd, unfinishedFate } from './task-end.ts'
import { taskLine } from './task-line.ts'
import { TaskPlaces } from './task-places.ts'
import { TaskRun } from './task-run.ts'
import { TasksAhead } from './tasks-ahead.ts'
import type { Workspaces } from './workspace.ts'

/** After so much output the journal says how far it was heard, and the keeper may remove it. */
const HEARD_EVERY_BYTES = 4 * 1024 * 1024

export interface SessionTasksPorts {
  readonly delivery: Delivery
  readonly workspaces: Workspaces
  readonly now: () => number
  readonly journal: SessionJournal
  /** Hears what belongs to no task. */
  readonly watch: ProgramWatch
  readonly give: (n: number, line: string) => void
  readonly heard: (at: number) => void
  readonly timedOut: (task: TaskRun) => void
  /** A place is free and nobody waits for it. */
  readonly idle: () => void
}

/** One task in its place; without a run it is one whose end the hub was told before this worker restarted. */
interface Place {
  readonly id: string
  readonly n: number
  readonly run: TaskRun | null
}

/** The tasks of one session: hands them over, shares out what the program prints among them, and ends them. */
export class SessionTasks {
  readonly own: LineFile
  readonly #session: Offer
  readonly #ports: SessionTasksPorts
  readonly #places: TaskPlaces<Place>
  readonly #ahead = new TasksAhead(offers => {
    for (const offer of offers) this.#decline(offer, 'its session has no place free for it any more')
  })
  readonly #spokenTo = new Set<TaskRun>()
  /** Handed over by an earlier process, and not yet met again in the output. */
  readonly #due: { readonly task: HandedOver; readonly file: LineFileState }[]
  readonly #left: Map<string, Offer>
  #at: number
  #heardAt: number

  /** `left` are tasks of an earlier process of this worker whose ends were not told, by key. */
  constructor(session: Offer, folder: string, ports: SessionTasksPorts, left: ReadonlyMap<string, Offer>) {
    const { heard, tasks } = ports.journal
    this.#session = session
    this.#ports = ports
    this.#left = new Map(left)
    this.#at = heard.at
    this.#heardAt = heard.at
    this.#due = [
      ...heard.tasks.map(({ file, ...task }) => ({ task, file })),
      ...tasks.map(task => ({ task, file: EMPTY_FILE })),
    ]
    this.#places = new TaskPlaces(session.spec.session?.concurrency ?? 1, heard.places)
    this.own = new LineFile(join(folder, 'stdout'), session.spec.outputLimitBytes, heard.own)
  }

  get isReady(): boolean {
    return this.#places.isReady
  }

  get isIdle(): boolean {
    return this.#places.size === 0 && this.#ahead.all.length === 0
  }

  get count(): number {
    return this.#runs.length + this.#ahead.all.length
  }

  get holding(): readonly Holding[] {
    return [
      ...this.#runs.map(({ offer, handedOver }) => held(offer, 'running', handedOver.startedAt)),
      ...this.#ahead.all.map(offer => held(offer, 'starting', null)),
    ]
  }

  /** All output there was has been heard again: from here on it goes on, with what could not be handed over before. */
  resumed(): void {
    this.#placeDue(this.#at)
    for (const place of this.#places.all) if (place.run === null) this.#places.remove(place)
    for (const { offer, handedOver } of this.#runs) this.#ports.give(handedOver.n, taskLine(offer, this.#session))
    for (const offer of this.#left.values()) this.#take(offer)
    this.#left.clear()
  }

  take(offer: Offer): void {
    this.#ports.workspaces.make(offer)
    this.#take(offer)
  }

  find(fence: Fence): TaskRun | null {
    return this.#runs.find(({ handedOver }) => handedOver.key === fenceKey(fence)) ?? null
  }

  /** True when the task still waited for a place: the program does not know it. */
  cancelWaiting(fence: Fence, text: string): boolean {
    const offer = this.#ahead.remove(fence)
    if (offer !== null) this.#tellUnstarted(offer, { outcome: 'canceled', error: text, note: null })
    return offer !== null
  }

  stopTask(task: TaskRun, stop: Stopped): void {
    if (task.stop !== null) return
    this.#ports.journal.taskStopped(task.handedOver.key, stop)
    task.stop = stop
  }

  hear(piece: Piece): void {
    if (this.#due.length > 0) this.#placeDue(piece.start)
    const text = eventText(piece)
    const event = text === null ? null : eventIn({ text, truncated: false }, 'stdout')
    const place = this.#places.ownerOf(event, text)
    this.#keep(place, piece, event !== null)
    this.#at = piece.end
    if (event === null) return
    if (place === null) this.#ports.watch.hear(event)
    else place.run?.watch.hear(event)
    if (this.#places.hear(event)) this.#ports.delivery.ready(this.#session.fence)
    if (event.event === 'finish' && place !== null) this.#finished(place)
  }

  /** What was heard since is in the files. */
  flush(): void {
    for (const task of this.#spokenTo) task.flush()
    this.#spokenTo.clear()
    this.own.flush()
    if (this.#at - this.#heardAt > HEARD_EVERY_BYTES || this.#ports.journal.isLong) this.#noteHeard()
  }

  /** The program is gone: those without an end get theirs. */
  endAll(end: SessionEnd): void {
    this.#placeDue(Number.POSITIVE_INFINITY)
    for (const place of this.#places.all) {
      const { run } = place
      if (run === null) continue
      const facts = {
        stop: run.stop,
        wasGiven: run.n <= (end.exit.lines ?? 0),
        hasAnswered: run.watch.hasAnswered,
        isOpener: this.#places.isOpener(place),
      }
      const { exitCode, signal } = end.exit
      run.end(unfinishedFate(facts, end), { exitCode, signal })
      this.#places.remove(place)
    }
    const unstarted = { stop: null, wasGiven: false, hasAnswered: false, isOpener: false }
    for (const offer of [...this.#ahead.removeAll(), ...this.#left.values()])
      this.#tellUnstarted(offer, unfinishedFate(unstarted, end))
    this.own.close()
  }

  /** The program reads no more: tasks it was not given go elsewhere, except the one it may know from its environment. */
  refused(written: number, fate: ProgramFate): void {
    for (const place of this.#places.all) {
      if (place.run === null || place.n <= written || this.#places.isOpener(place)) continue
      place.run.end(fate)
      this.#leave(place)
    }
    for (const offer of this.#ahead.removeAll()) this.#tellUnstarted(offer, fate)
  }

  get #runs(): readonly TaskRun[] {
    return this.#places.all.flatMap(({ run }) => run ?? [])
  }

  #take(offer: Offer): void {
    if (this.#places.isFull) this.#ahead.add(offer)
    else this.#handOver(offer)
  }

  #handOver(offer: Offer): void {
    const { journal, now, give } = this.#ports
    const key = fenceKey(offer.fence)
    const task: HandedOver = { n: journal.nextLine, id: offer.id, key, at: this.#at, startedAt: now() }
    try {
      journal.handedOver(task)
    } catch (error) {
      this.#tellUnstarted(offer, { outcome: 'failed', error: `it could not be noted: ${reasonOf(error)}`, note: null })
      return
    }
    give(task.n, taskLine(offer, this.#session))
    this.#place(offer, task, null)
  }

  #place(offer: Offer | null, task: HandedOver, resumed: LineFileState | null): void {
    const { delivery, now, workspaces, timedOut, journal } = this.#ports
    const { id, n } = task
    if (offer === null) {
      this.#places.place({ id, n, run: null })
      return
    }
    const run = new TaskRun(offer, task, { delivery, now, folder: workspaces.folderOf(offer.fence), timedOut }, resumed)
    run.stop = journal.taskStops.get(task.key) ?? null
    this.#places.place({ id, n, run })
  }

  #placeDue(at: number): void {
    while (this.#due[0] !== undefined && this.#due[0].task.at <= at) {
      const { task, file } = this.#due[0]
      this.#due.shift()
      this.#place(this.#left.get(task.key) ?? null, task, file)
      this.#left.delete(task.key)
    }
  }

  #keep(place: Place | null, { bytes }: Piece, isEvent: boolean): void {
    if (place === null) this.own.add(bytes, isEvent)
    else if (place.run !== null) {
      place.run.file.add(bytes, isEvent)
      this.#spokenTo.add(place.run)
    }
  }

  /** One that was stopped stays until the program is gone: what it says now comes too late. */
  #finished(place: Place): void {
    if (place.run !== null && place.run.stop !== null) return
    place.run?.finish()
    this.#leave(place)
    const next = this.#places.isFull ? undefined : this.#ahead.next()
    if (next !== undefined) this.#handOver(next)
    else this.#ports.idle()
  }

  #leave(place: Place): void {
    this.#places.remove(place)
    if (place.run !== null) this.#spokenTo.delete(place.run)
  }

  /** On a full disk it is noted later: until then the output stays. */
  #noteHeard(): void {
    const { journal, heard } = this.#ports
    if (this.#due.length > 0) return
    const tasks = this.#runs.map(({ handedOver, file }) => ({ ...handedOver, file: file.state }))
    const facts = { at: this.#at, nextLine: journal.nextLine, own: this.own.state, places: this.#places.state, tasks }
    try {
      journal.compact(facts)
    } catch {
      return
    }
    this.#heardAt = this.#at
    heard(this.#at)
  }

  /** One that may run again costs nobody a loss: the program never heard of it. */
  #tellUnstarted(offer: Offer, fate: ProgramFate): void {
    if (fate.outcome === 'lost') this.#decline(offer, fate.error ?? 'its session is gone')
    else this.#ports.delivery.report([unstartedReport(offer.fence, this.#ports.now(), fate)])
  }

  #decline({ fence }: Offer, reason: string): void {
    this.#ports.delivery.report([{ kind: 'declined', fence, at: this.#ports.now(), reason }])
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function held({ fence }: Offer, state: Holding['state'], startedAt: number | null): Holding {
  return { fence, state, startedAt }
}

import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { type EndedReport, eventIn, type Offer, outcomeOf } from '@stoker/protocol'
import { eventText, LineCutter } from '../events/line-cutter.ts'
import { ProgramWatch } from '../events/program-watch.ts'
import type { Delivery } from './delivery.ts'
import { LineFile, type LineFileState } from './line-file.ts'
import { droppedNote, notes, type ProgramFate } from './program-end.ts'
import type { HandedOver, Stopped } from './session-journal.ts'
import { StartTelling } from './start-telling.ts'

const LONGEST_TIMER_MS = 2 ** 31 - 1
const READ_BYTES = 256 * 1024
/** What a task says sooner than this may be all it has to say: then it is told with its end, in one commit at the hub. */
const YOUNG_MS = 5

export interface TaskPorts {
  readonly delivery: Delivery
  readonly now: () => number
  /** Where the task's own output is. */
  readonly folder: string
  readonly timedOut: (task: TaskRun) => void
}

/** One task in its place: what the session's program says to it, and its end. */
export class TaskRun {
  readonly offer: Offer
  readonly handedOver: HandedOver
  readonly watch: ProgramWatch
  readonly file: LineFile
  stop: Stopped | null = null
  readonly #ports: TaskPorts
  readonly #start: StartTelling
  #timer: NodeJS.Timeout | undefined
  #growingUp: NodeJS.Timeout | undefined

  /** `resumed` for one that an earlier process of this worker handed over: what it had heard is heard again from its own file. */
  constructor(offer: Offer, handedOver: HandedOver, ports: TaskPorts, resumed: LineFileState | null) {
    const { delivery, folder } = ports
    this.offer = offer
    this.handedOver = handedOver
    this.#ports = ports
    const path = join(folder, 'stdout')
    this.file = new LineFile(path, offer.spec.outputLimitBytes, resumed ?? undefined)
    this.watch = new ProgramWatch(progress => delivery.progress(offer.fence, progress))
    if (resumed !== null && resumed.size > 0) hearAgain(path, resumed.size, this.watch)
    const running = { kind: 'running', fence: offer.fence, at: handedOver.startedAt, isolation: 'session' } as const
    this.#start = new StartTelling(delivery, resumed === null ? running : null)
    this.#watchTime()
  }

  get id(): string {
    return this.offer.id
  }

  get n(): number {
    return this.handedOver.n
  }

  /** What was added since is in the file, and may be sent. */
  flush(): void {
    if (!this.file.flush() || this.#growingUp !== undefined) return
    const youngMs = this.handedOver.startedAt + YOUNG_MS - this.#ports.now()
    if (youngMs <= 0) this.#tellOutput()
    else this.#growingUp = setTimeout(() => this.#tellOutput(), Math.min(YOUNG_MS, youngMs))
  }

  /** The end as the program told it. */
  finish(): void {
    const { finish } = this.watch
    this.end(
      outcomeOf({
        finish,
        ...{ exitCode: 0, signal: null, oomLimitText: null, deadlinePassed: false, canceledBy: null, lastStderr: [] },
      }),
    )
  }

  end({ outcome, error, note }: ProgramFate, exit: Pick<EndedReport, 'exitCode' | 'signal'> = STILL_RUNS): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#growingUp)
    this.file.flush()
    this.file.close()
    const { value, note: tooLarge } = this.watch.result
    const ended: EndedReport = {
      kind: 'ended',
      fence: this.offer.fence,
      at: this.#ports.now(),
      outcome,
      startedAt: this.handedOver.startedAt,
      ...exit,
      error,
      note: notes(note, tooLarge, droppedNote(this.file.state.dropped, this.offer.spec.outputLimitBytes)),
      result: value as EndedReport['result'],
      usage: null,
    }
    this.#ports.delivery.report(this.#start.with(ended), this.#sizes)
  }

  #tellOutput(): void {
    this.#growingUp = undefined
    this.#ports.delivery.output(this.offer.fence, this.#sizes)
  }

  get #sizes() {
    return { stdout: this.file.size, stderr: 0 }
  }

  #watchTime(): void {
    const { timeoutMs } = this.offer.spec
    if (timeoutMs === null) return
    const leftMs = this.handedOver.startedAt + timeoutMs - this.#ports.now()
    if (leftMs > LONGEST_TIMER_MS) this.#timer = setTimeout(() => this.#watchTime(), LONGEST_TIMER_MS)
    else this.#timer = setTimeout(() => this.#ports.timedOut(this), Math.max(0, leftMs))
  }
}

const STILL_RUNS = { exitCode: null, signal: null }

function hearAgain(path: string, size: number, watch: ProgramWatch): void {
  const cutter = new LineCutter()
  const bytes = Buffer.allocUnsafe(READ_BYTES)
  const fd = openSync(path, 'r')
  try {
    for (let at = 0; at < size; ) {
      const got = readSync(fd, bytes, 0, Math.min(READ_BYTES, size - at), at)
      if (got === 0) return
      at += got
      for (const piece of cutter.push(bytes.subarray(0, got))) {
        const text = eventText(piece)
        const event = text === null ? null : eventIn({ text, truncated: false }, 'stdout')
        if (event !== null) watch.hear(event)
      }
    }
  } finally {
    closeSync(fd)
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { type CpuTicks, readCpuTicks } from './cpu-ticks.ts'
import { isQuick, type Stretch } from './disturbance.ts'
import { type FsyncTime, fsyncTime } from './fsync-time.ts'
import { treeTicks } from './own-ticks.ts'
import { workTimeMs } from './work-time.ts'

const LOOK_EVERY_MS = 1_000
const MOST_PATIENCE_MS = 20_000

/** Looks at the machine around each stretch of the run, so that a disturbed one can be told from a slow product. */
export class MachineWatch {
  readonly #folder: string
  readonly #stretches: Stretch[] = []

  constructor(folder: string) {
    this.#folder = folder
    // The first time counts for nothing: it is compiled.
    workTimeMs()
  }

  get stretches(): readonly Stretch[] {
    return this.#stretches
  }

  get bestFsync(): FsyncTime | null {
    return this.#stretches.map(({ fsync }) => fsync).sort((a, b) => a.p50Ms - b.p50Ms)[0] ?? null
  }

  async during<T>(name: string, work: () => Promise<T>): Promise<{ readonly found: T; readonly stretch: Stretch }> {
    const fsync = await fsyncTime(this.#folder)
    const workBefore = workTimeMs()
    const before = await lookAround(this.#folder)
    const found = await work()
    const after = await lookAround(this.#folder)
    const workMs = (workBefore + workTimeMs()) / 2
    const stretch = {
      name,
      fsync,
      workMs,
      foreignShare: foreignShare(before, after),
      stolenShare: stolenShare(before, after),
    }
    this.#stretches.push(stretch)
    return { found, stretch }
  }

  /** Waits until the processor is as quick as it has been, some seconds at most. */
  async calm(): Promise<void> {
    const until = performance.now() + MOST_PATIENCE_MS
    while (!isQuick(workTimeMs(), this.#stretches) && performance.now() < until) await sleep(LOOK_EVERY_MS)
  }
}

interface Look {
  readonly all: CpuTicks | null
  readonly ours: number
}

async function lookAround(folder: string): Promise<Look> {
  return { all: await readCpuTicks(), ours: await treeTicks(process.pid, folder) }
}

function stolenShare({ all: before }: Look, { all: after }: Look): number | null {
  if (before === null || after === null || after.busy === before.busy) return null
  return (after.stolen - before.stolen) / (after.busy - before.busy)
}

function foreignShare(before: Look, after: Look): number | null {
  if (before.all === null || after.all === null || after.all.total === before.all.total) return null
  const foreign = after.all.busy - before.all.busy - (after.ours - before.ours)
  return Math.max(0, foreign / (after.all.total - before.all.total))
}

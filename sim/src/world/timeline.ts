type Run = () => void

/** Whoever planned something and may be dead or asleep when its time comes. */
interface Planner {
  enter(run: Run): void
}

interface Step {
  readonly time: number
  readonly order: number
  readonly run: Run
  readonly planner: Planner | null
}

/** Virtual time: a heap of what happens next; equal times keep the order in which they were asked for. */
export class Timeline {
  #now = 0
  #order = 0
  #steps = 0
  readonly #heap: Step[] = []

  get now(): number {
    return this.#now
  }

  get steps(): number {
    return this.#steps
  }

  in(ms: number, run: Run, planner: Planner | null = null): void {
    this.at(this.#now + Math.max(0, ms), run, planner)
  }

  at(time: number, run: Run, planner: Planner | null = null): void {
    this.#order += 1
    const at = Math.max(time, this.#now)
    const heap = this.#heap
    let hole = heap.length
    while (hole > 0) {
      const parent = (hole - 1) >> 1
      const above = heap[parent] as Step
      if (above.time <= at) break
      heap[hole] = above
      hole = parent
    }
    heap[hole] = { time: at, order: this.#order, run, planner }
  }

  /** False when nothing is left to happen. */
  step(): boolean {
    const first = this.#heap[0]
    if (first === undefined) return false
    const { time, run, planner } = first
    this.#now = time
    this.#steps += 1
    this.#removeFirst()
    if (planner === null) run()
    else planner.enter(run)
    return true
  }

  /** The last one falls from the top to where it belongs. */
  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()
    const size = heap.length
    if (last === undefined || size === 0) return
    let hole = 0
    for (let child = 1; child < size; child = 2 * hole + 1) {
      let next = heap[child] as Step
      if (child + 1 < size) {
        const other = heap[child + 1] as Step
        if (isBefore(other, next)) {
          next = other
          child += 1
        }
      }
      if (!isBefore(next, last)) break
      heap[hole] = next
      hole = child
    }
    heap[hole] = last
  }
}

function isBefore(a: Step, b: Step): boolean {
  return a.time < b.time || (a.time === b.time && a.order < b.order)
}

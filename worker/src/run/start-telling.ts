import type { AttemptReport, EndedReport } from '@stoker/protocol'
import type { Delivery } from './delivery.ts'

/** What ends sooner than this is told in one report with its end: one commit at the hub instead of two. Longer, and who follows a program would see its first words late: they are shown once it runs. */
const FOLD_MS = 15

/** Tells that an attempt runs, unless its end comes so soon that both are told together. */
export class StartTelling {
  #running: AttemptReport | null
  #timer: NodeJS.Timeout | undefined

  /** Null when an earlier process of this worker has told it. */
  constructor(delivery: Delivery, running: AttemptReport | null) {
    this.#running = running
    if (running === null) return
    this.#timer = setTimeout(() => {
      this.#running = null
      delivery.report([running])
    }, FOLD_MS)
  }

  /** From here on it is told with the end. */
  hold(): void {
    clearTimeout(this.#timer)
  }

  with(ended: EndedReport): readonly AttemptReport[] {
    this.hold()
    return this.#running === null ? [ended] : [this.#running, ended]
  }
}

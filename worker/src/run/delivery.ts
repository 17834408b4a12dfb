import type { AttemptReport, Fence, OutputStream, Progress } from '@stoker/protocol'

/** Where the passage of an attempt delivers what happens; each link implements it. */
export interface Delivery {
  /** Reports given together travel together; an end says how far the output of its attempt goes. */
  report(reports: readonly AttemptReport[], sizes?: Readonly<Record<OutputStream, number>>): void
  /** The output files have grown; bytes are read from them when they are sent. */
  output(fence: Fence, sizes: Readonly<Record<OutputStream, number>>): void
  progress(fence: Fence, progress: Progress): void
  /** The program of a session is ready for tasks. */
  ready(fence: Fence): void
}

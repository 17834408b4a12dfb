import type { OutputStream } from '@stoker/protocol'
import type { RunEnd } from './observation.ts'

/** A program that was started, whichever way. */
export interface Running {
  /** When it is gone and both streams are drained. */
  readonly ended: Promise<RunEnd>
  readonly write: (line: string) => void
  readonly endInput: () => void
  /** `end` asks it by SIGTERM, `kill` does not ask; both reach all its children. */
  readonly signal: (how: 'end' | 'kill') => void
}

export interface LaunchWish {
  readonly env: Readonly<Record<string, string>>
  /** Its output goes to a terminal: programs that gather lines for a pipe do not there. */
  readonly terminal: boolean
  readonly onBytes: (stream: OutputStream, bytes: Uint8Array) => void
}

/** A way to start the program under check, as often as asked. */
export interface Launcher {
  /** What is run, for people. */
  readonly title: string
  /** What the program sees as MODEL_PATH. */
  readonly modelPath: string
  readonly start: (wish: LaunchWish) => Promise<Running>
}

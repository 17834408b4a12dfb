import type { Config } from './config.ts'

export interface Out {
  readonly write: (text: string | Uint8Array) => void
  readonly isTTY: boolean
  /** Undefined where nobody looks at a width: a pipe gets whole values. */
  readonly columns: () => number | undefined
  readonly rows: () => number | undefined
}

/** The world around a command: passed in, so that a test can be the terminal. */
export interface Io {
  readonly stdout: Out
  readonly stderr: Out
  readonly readStdin: () => Promise<string>
  /** Asks the person at the terminal; null where there is none, or where the answer is the end of the input. */
  readonly ask: (question: string) => Promise<string | null>
  /** Stdin, or at a terminal one line that is asked for and not shown. */
  readonly readHidden: (ask: () => void) => Promise<string>
  readonly config: Config
  readonly version: string
  /** Where the person is: relative paths begin here. */
  readonly folder: string
  /** Where hub.js, worker.js and sim.js lie. */
  readonly programs: string
  readonly now: () => number
  /** Calls back on Ctrl-C and requests to end until the returned function is called. */
  readonly onStop: (handler: () => void) => () => void
}

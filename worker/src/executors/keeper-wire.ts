import type { EngineRequest } from './container-request.ts'
import type { Exit, LaunchOrder, OutputSizes, Usage } from './port.ts'

/** A launch as the keeper needs it: the sandbox already spelled out as bubblewrap options, the container as the engine is asked for it. */
export interface KeeperOrder
  extends Omit<LaunchOrder, 'isolation' | 'network' | 'devices' | 'visiblePaths' | 'container'> {
  readonly sandbox: Sandbox | null
  readonly container: KeeperContainer | null
}

/** The keeper adds a label of its own, the standard input where there is one, and the secrets' folder at `secretsAt`. */
export interface KeeperContainer {
  readonly engine: string
  readonly name: string
  readonly request: EngineRequest
  readonly secretsAt: string
}

/** Besides bubblewrap's own options: `staged, bind, path, place` for a path its user may not be able to walk to, `text, content, place`, and `secret, base64, place`. */
interface Sandbox {
  readonly options: readonly (readonly string[])[]
  /** Which of these, from one to before another, are much the same for all programs of this machine; null where they cannot be made once for several. */
  readonly system: readonly [number, number] | null
  readonly uid: number | null
  readonly internet: boolean
  readonly offline: boolean
}

/** The attempt a keeper has and nobody has released yet. */
export interface HeldAttempt {
  readonly key: string
  readonly folder: string
  readonly pid: number
  readonly startedAtMs: number
  readonly containerId?: string | undefined
  readonly sizes: OutputSizes
  /** The last line that was written to it whole. */
  readonly lines: number
  readonly exit: Exit | null
}

/** What a worker asks of a keeper. */
export type KeeperRequest =
  | { readonly op: 'start'; readonly order: KeeperOrder }
  | { readonly op: 'stop'; readonly cause: 'canceled'; readonly graceMs: number | null }
  | { readonly op: 'line'; readonly n: number; readonly line: string }
  | { readonly op: 'eof'; readonly graceMs: number }
  | { readonly op: 'heard'; readonly stdout: number }
  | { readonly op: 'usage'; readonly id: number }
  | { readonly op: 'release' | 'detach' | 'quit' }

/** What a keeper tells, `hello` first on every connection. */
export type KeeperMessage =
  | { readonly event: 'hello'; readonly holds: HeldAttempt | null }
  | {
      readonly event: 'started'
      readonly pid: number
      readonly startedAtMs: number
      readonly containerId?: string | undefined
    }
  | { readonly event: 'refused'; readonly why: string }
  | { readonly event: 'output'; readonly stdout: number; readonly stderr: number }
  | { readonly event: 'lines'; readonly n: number; readonly refused: boolean }
  | { readonly event: 'ended'; readonly sizes: OutputSizes; readonly exit: Exit }
  | { readonly event: 'usage'; readonly id: number; readonly usage: Usage | null }

/** Asked of the zygote: a keeper for a slot, an end to what a vanished one left, or an end to one that does not answer. */
export interface ZygoteRequest {
  readonly op: 'keeper' | 'sweep' | 'force'
  readonly slot: number
  readonly id: number
}

/** The zygote's answer; a sweep names the attempt it found, if any. */
export interface ZygoteAnswer {
  readonly event: 'done'
  readonly id: number
  readonly answer: SweptAttempt | null
}

/** What a sweep found: its exit record is in the folder. */
export type SweptAttempt = Pick<HeldAttempt, 'key' | 'folder' | 'startedAtMs'>

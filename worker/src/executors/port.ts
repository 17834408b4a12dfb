/** What a program gets and how it may end; nothing in it is looked up elsewhere, so a launch can be repeated exactly. */
export interface LaunchOrder {
  /** Names the attempt on this machine, `[a-z0-9-]{1,80}`. */
  readonly key: string
  /** Made by the caller, with an empty or filled `work` inside; `stdout`, `stderr` and `exit.json` are written beside `work`, the first two are empty or not there. */
  readonly folder: string
  /** So much of `stderr` was written before, by those who made the program ready; it goes on behind that. */
  readonly saidBytes?: number | undefined
  readonly argv: readonly string[]
  /** The whole environment: nothing is inherited, and only STOKER_ATTEMPT (in a sandbox also PWD) is added; in a container also what its image and engine set. */
  readonly env: Readonly<Record<string, string>>
  /** Fed to the program, then end of file; null is end of file at once. */
  readonly stdin: string | null
  /** The program's stdin stays open for `Execution.line`, and its stdout is kept in segments until it was heard; false unless said. */
  readonly takesLines?: boolean | undefined
  readonly isolation: 'none' | 'sandbox' | 'container'
  /** Set exactly when isolation is 'container'; argv may then be empty: the image's own command. */
  readonly container: ContainerOrder | null
  /** Means something in a sandbox or container only; without one the program always has the host's network. In a container `internet` is the engine's bridge. */
  readonly network: 'none' | 'internet' | 'host'
  /** Running time after which the program is stopped, also when no worker is alive. */
  readonly deadlineMs: number | null
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number
  /** Of both streams together; what is above is counted and dropped while the program goes on. */
  readonly outputLimitBytes: number
  /**
   * `cpuShare` is a weight, not a ceiling: the whole tree together counts as so many tenths of one ordinary process, however many it forks; without one it counts as a whole one.
   * Without `diskBytes` the work folder may take what is free, but a reserve.
   */
  readonly limits: {
    readonly cpuShare: number | null
    readonly memoryBytes: number | null
    readonly pids: number
    readonly diskBytes: number | null
  }
  readonly secrets: LaunchSecrets | null
  /** Device nodes shown in a sandbox. */
  readonly devices: readonly string[]
  /** Further paths shown in a sandbox, read-only and at the same place. */
  readonly visiblePaths: readonly string[]
}

/** A program that is an image: who runs it, as whom, and what it sees besides its work folder at /work. */
export interface ContainerOrder {
  /** Path of the engine's socket. */
  readonly engine: string
  readonly image: string
  /** gpu-task-<last 12 hex of the id> or gpu-session-<last 12>; unique at the engine. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** Null is the default: nobody for a root worker, else the worker's own user. */
  readonly user: string | null
  /** Null is /work, 'image' the image's own. */
  readonly workdir: string | null
  readonly writableRoot: boolean
  readonly shmBytes: number | null
  /** Of /tmp, which is in memory. */
  readonly tmpBytes: number
  /** A hard quota, unlike `cpuShare`. */
  readonly cpus: number | null
  readonly binds: readonly { readonly source: string; readonly target: string; readonly readOnly: boolean }[]
  /** GPU uuids; empty asks for none. */
  readonly deviceIds: readonly string[]
}

/** Values in base64. They pass to the keeper and from there to memory only: nothing of them is ever on a disk. */
export interface LaunchSecrets {
  /** Each becomes a file of this name below $STOKER_SECRETS. */
  readonly files: readonly { readonly name: string; readonly value: string }[]
  /** Replaced by `***NAME***` in all output before it is kept. */
  readonly hidden: readonly { readonly name: string; readonly value: string }[]
  /** A folder in memory for the files of a program or container. */
  readonly memoryFolder: string | null
}

/** How an attempt ended; exactly one of exitCode, signal, startError is set unless the keeper or the engine was lost. */
export interface Exit {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly oom: boolean
  /** It was ended because its work folder had grown beyond `diskBytes`. */
  readonly overDisk?: boolean | undefined
  /** `eof`: the end of its input asked it to leave, whether it left by itself or had to be stopped. */
  readonly stoppedBy: 'deadline' | 'canceled' | 'abandoned' | 'eof' | null
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly cpuSeconds: number
  /** Of the largest single process; of a container the peak of all, cached files included. */
  readonly maxRssBytes: number
  readonly droppedBytes: OutputSizes
  readonly startError: string | null
  /** What held the limits: rlimit also means that memory of the whole tree was sampled, and cpus were not limited. */
  readonly limitsBy: 'cgroup' | 'rlimit' | 'none'
  /** The keeper vanished (killed, or the machine restarted): the program is gone and how it ended is not known. */
  readonly keeperLost: boolean
  /** Why nobody knows how the program of a container ended, which is gone: its engine went away, or its runner was killed. */
  readonly lost?: string | undefined
  /** Of a program that takes lines: the number of the last one that was written to it whole. */
  readonly lines?: number | undefined
  readonly containerId?: string | undefined
}

/** How far a program that takes lines was fed; `refused` when it has closed its stdin and will never take another. */
export interface LinesWritten {
  readonly n: number
  readonly refused: boolean
}

/** Bytes per stream. */
export interface OutputSizes {
  readonly stdout: number
  readonly stderr: number
}

/** Live use of the whole tree. */
export interface Usage {
  readonly cpuSeconds: number
  readonly rssBytes: number
  readonly pids?: number | undefined
}

/** One attempt's program, held by the executor until released. */
export interface Execution {
  readonly key: string
  readonly folder: string
  /** Of the program, or of the sandbox around it; 0 when it could not start, or was over before it was told of. */
  readonly pid: number
  readonly startedAtMs: number
  /** As its engine knows it; null for what runs in none. */
  readonly containerId: string | null
  readonly hasEnded: boolean
  /** What both files hold now. */
  readonly sizes: OutputSizes
  /** Called when either file has grown, and once at once if they already hold bytes; a fast program gives fewer calls. */
  onOutput(listener: (sizes: OutputSizes) => void): void
  /** Resolves after the whole tree is gone, the output is in the files and exit.json is in place. */
  readonly ended: Promise<Exit>
  /** The first cause wins; a later call can only shorten the grace. */
  stop(cause: 'canceled', graceMs?: number): void
  /** One line for the program's stdin, without its newline. Numbers count from 1; each is written once, however often it is given. */
  line(n: number, text: string): void
  /** Called when lines were written, and once at once. */
  onLines(listener: (written: LinesWritten) => void): void
  /** Ends the program's stdin; one that still runs after the grace is stopped as by `stop`, with its own grace. */
  endInput(graceMs: number): void
  /** Stdout up to here is not needed any more: whole segments below are removed. */
  heard(stdout: number): void
  /** Null when nothing runs any more. */
  usage(): Promise<Usage | null>
  /** The result is taken: only now may the place be used for another attempt. A worker that is killed may meet it again. */
  release(): Promise<void>
}

/** Runs programs that outlive the worker. */
export interface Executor {
  /** Resolves also when the program could not start (startError in its exit); rejects when no place is free. */
  start(order: LaunchOrder): Promise<Execution>
  /** Every attempt an earlier worker left unreleased, running or ended. */
  reattach(): Promise<readonly Execution[]>
  close(how: 'leave-running' | 'kill'): Promise<void>
}

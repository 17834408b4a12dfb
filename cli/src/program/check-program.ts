import { randomUUID } from 'node:crypto'
import { factsEnv, outcomeOf, type ProgramOutcome } from '@stoker/protocol'
import { judge } from './judge.ts'
import type { Launcher } from './launch.ts'
import type { Mistake } from './mistake.ts'
import { eventsOf, type Heard, type Limits, type Observation, type RunKind } from './observation.ts'
import { observe } from './observe.ts'
import { looksBuffered } from './rules/buffer-rule.ts'

export interface CheckWish {
  readonly input: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string>>
  readonly modelName: string
  readonly gpuDevice: string
  readonly isSession: boolean
  /** Also ask it to stop, in a run of its own. */
  readonly stops: boolean
  readonly limits: Limits
  readonly clock: () => number
  readonly onRun: (kind: RunKind) => void
  readonly onHeard: (heard: Heard) => void
  readonly abandoned: AbortSignal
}

interface CheckedRun {
  readonly observation: Observation
  readonly outcome: ProgramOutcome
}

export interface Checked {
  readonly main: CheckedRun
  readonly mistakes: readonly Mistake[]
}

const SESSION_TASKS = 2
/** A run with a terminal may take longer than the one before, on a busy machine much longer; one that waits for input ends. */
const SPARE_MS = 10_000

/** Runs the program as a worker would, once more where the first run leaves a doubt, and once to ask it to stop. */
export async function checkProgram(launcher: Launcher, wish: CheckWish): Promise<Checked> {
  const kind = wish.isSession ? 'session' : 'once'
  const main = await run(launcher, wish, kind)
  const onTerminal = looksBuffered(main) && !wish.isSession ? await onTerminalOf(launcher, wish, main) : null
  const stop = wish.stops && !wish.abandoned.aborted ? await run(launcher, wish, 'stop') : null
  return {
    main: { observation: main, outcome: outcomeFor(main, wish) },
    mistakes: judge({ main, onTerminal, stop }, wish.limits),
  }
}

function run(launcher: Launcher, wish: CheckWish, kind: RunKind): Promise<Observation> {
  wish.onRun(kind)
  const { limits, clock, abandoned } = wish
  const onHeard = kind === 'session' || kind === 'once' ? wish.onHeard : () => {}
  const ids = Array.from({ length: SESSION_TASKS }, () => randomUUID())
  const tasks = wish.isSession ? ids.map(id => taskLine(id, wish)) : []
  const env = envOf(launcher, wish, ids[0] ?? '')
  const fed = kind === 'stop' ? tasks.slice(0, 1) : tasks
  return observe(launcher, { kind, tasks: fed, env, limits, clock, onHeard, abandoned })
}

/** No terminal can be had where Python is missing: then nothing is proven. */
async function onTerminalOf(launcher: Launcher, wish: CheckWish, main: Observation): Promise<Observation | null> {
  const timeoutMs = Math.min(wish.limits.timeoutMs, SPARE_MS + main.endedAtMs * 3)
  const ran = await run(launcher, { ...wish, limits: { ...wish.limits, timeoutMs } }, 'terminal').catch(() => null)
  return ran !== null && eventsOf(ran).length > 0 ? ran : null
}

function taskLine(id: string, { input, modelName, limits }: CheckWish): string {
  return JSON.stringify({
    task_id: id,
    task_name: 'check',
    model_id: modelName,
    task_preset: 'inference',
    metadata: input,
    timeout_seconds: Math.ceil(limits.timeoutMs / 1000),
  })
}

function envOf(launcher: Launcher, wish: CheckWish, taskId: string): Record<string, string> {
  return {
    ...factsEnv({
      input: wish.input,
      env: wish.env,
      taskId,
      sessionId: wish.isSession ? randomUUID() : null,
      modelName: wish.modelName,
      modelPath: launcher.modelPath,
      gpuDevice: wish.gpuDevice,
    }),
    STOKER_JOB_ID: taskId,
    CUDA_VISIBLE_DEVICES: wish.gpuDevice,
    NVIDIA_VISIBLE_DEVICES: wish.gpuDevice === '' ? 'void' : wish.gpuDevice,
  }
}

const KEPT_STDERR_LINES = 10

/** What the hub would say of the run; of a session, of its last task. */
function outcomeFor(main: Observation, { isSession }: CheckWish): ProgramOutcome {
  const fields = eventsOf(main, 'finish').at(-1)?.said.fields
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null)
  const isAnswered = isSession && fields !== undefined && main.inputEndedAtMs !== null
  return outcomeOf({
    finish:
      fields === undefined
        ? null
        : {
            status: String(fields.status ?? 'completed'),
            message: text(fields.message),
            error: text(fields.error),
          },
    exitCode: isAnswered ? 0 : main.exitCode,
    signal: isAnswered ? null : main.signal,
    oomLimitText: main.isOutOfMemory ? 'of the engine' : null,
    deadlinePassed: main.hasTimedOut && !isAnswered,
    canceledBy: null,
    lastStderr: main.heard
      .filter(one => one.stream === 'stderr')
      .slice(-KEPT_STDERR_LINES)
      .map(one => one.text),
  })
}

import type { GpuDifficulty, JobSpecInput } from '@stoker/protocol'
import type { Preset } from '../../presets/preset.ts'
import { type PresetRequest, presetSpec } from '../../presets/preset-spec.ts'
import type { Settings } from '../../presets/settings.ts'
import { AnswerError } from './answer-error.ts'
import type { PredefinedBody, SubmitBody } from './bodies.ts'

/** A request for a task of a preset, whichever of the two ways it came. */
export interface PresetTask {
  readonly preset: Preset
  readonly type: 'oneoff' | 'session'
  readonly difficulty: GpuDifficulty
  readonly timeoutSeconds: number
  readonly metadata: SubmitBody['metadata']
  readonly sessionId: string | undefined
  readonly createSession: boolean
  readonly waits: boolean
  readonly onDisconnect: SubmitBody['on_disconnect']
}

type Presets = ReadonlyMap<string, Preset>

/** By model and preset: a name that is not there makes the request wrong. */
export function submittedTask(body: SubmitBody, presets: Presets, settings: Settings): PresetTask {
  const name = `${body.model_id}/${body.task_preset}`
  const preset = presets.get(name)
  if (preset === undefined)
    throw new AnswerError(400, `No preset ${body.task_preset} for model ${body.model_id}: ${known(presets)}`)
  const asked = body.task_type === 'session' || preset.type === 'session' ? 'session' : 'oneoff'
  return taskOf(body, preset, asked, body.task_difficulty, settings)
}

/** By the name of a definition: one that is not there was not found. */
export function predefinedTask(body: PredefinedBody, presets: Presets, settings: Settings): PresetTask {
  const preset = presets.get(body.task_name)
  if (preset === undefined) throw new AnswerError(404, `Task ${body.task_name} not found: ${known(presets)}`)
  const isSession = preset.type === 'session' || body.session_id !== undefined || body.create_session
  const difficulty = body.task_difficulty ?? preset.difficulty ?? 'low'
  return taskOf(body, preset, isSession ? 'session' : 'oneoff', difficulty, settings)
}

function taskOf(
  body: Pick<SubmitBody, 'timeout_seconds' | 'metadata' | 'session_id' | 'create_session' | 'wait' | 'on_disconnect'>,
  preset: Preset,
  type: PresetTask['type'],
  difficulty: GpuDifficulty,
  { maxTimeoutMs }: Settings,
): PresetTask {
  const timeoutSeconds = body.timeout_seconds ?? preset.timeoutMs / 1000
  if (timeoutSeconds * 1000 > maxTimeoutMs)
    throw new AnswerError(400, `timeout_seconds is ${timeoutSeconds}, the maximum is ${maxTimeoutMs / 1000}`)
  return {
    preset,
    type,
    difficulty,
    timeoutSeconds,
    metadata: body.metadata,
    sessionId: body.session_id,
    createSession: body.create_session,
    waits: body.wait,
    onDisconnect: body.on_disconnect,
  }
}

/** A one-off job of the preset, or the session that its tasks will run in. GPUs are exclusive: one of the difficulty, unless the preset says how many. */
export function programSpec(
  { preset, difficulty, metadata, timeoutSeconds }: PresetTask,
  as: 'job' | 'session',
  labels: Record<string, string>,
  settings: Settings,
): JobSpecInput {
  const gpus = preset.program.resources?.gpus ?? 1
  const request: PresetRequest = {
    as,
    difficulty,
    labels,
    // A session of a program that workers have is asked nothing; its tasks are.
    ...((as === 'job' || preset.program.program === undefined) && {
      input: metadata as NonNullable<JobSpecInput['input']>,
    }),
    ...(as === 'job' ? { timeout: timeoutSeconds } : {}),
    resources: gpus === 0 ? { gpus } : { gpus, gpuDifficulty: difficulty },
  }
  return presetSpec(as === 'job' ? { ...preset, type: 'oneoff' } : preset, settings, request)
}

const MOST_NAMES = 20

function known(presets: Presets): string {
  const names = [...presets.keys()].sort()
  if (names.length === 0) return 'no presets are loaded'
  return `known are ${names.slice(0, MOST_NAMES).join(', ')}${names.length > MOST_NAMES ? ', …' : ''}`
}

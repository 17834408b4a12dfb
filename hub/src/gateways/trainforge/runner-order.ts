import { type CustomScriptInput, factsEnv, type JobSpec } from '@stoker/protocol'

/** What a runner script is told when it calls: everything but the files, which are beside it. */
export interface RunnerOrder {
  /** One text is for the shell; the first word null means the runner's own Python. */
  readonly command: string | readonly (string | null)[]
  readonly env: Readonly<Record<string, string>>
  readonly timeout_seconds: number | null
  readonly check_in_seconds: number
  readonly output_limit_bytes: number
  readonly wants_outputs: boolean
  readonly environment: { readonly requirements: string; readonly python: string | null } | null
}

const CHECK_IN_SECONDS = 10

export function runnerOrder(job: string, spec: JobSpec, gpus: readonly number[]): RunnerOrder {
  return {
    command: commandOf(spec),
    env: {
      ...factsEnv({
        input: spec.input,
        env: spec.env,
        taskId: job,
        sessionId: null,
        modelName: '',
        modelPath: '',
        gpuDevice: gpus[0] === undefined ? '' : String(gpus[0]),
      }),
      STOKER_JOB_ID: job,
      CUDA_VISIBLE_DEVICES: gpus.length === 0 ? '-1' : gpus.join(','),
    },
    timeout_seconds: spec.timeoutMs === null ? null : spec.timeoutMs / 1000,
    check_in_seconds: CHECK_IN_SECONDS,
    output_limit_bytes: spec.outputLimitBytes,
    wants_outputs: spec.outputs.length > 0,
    environment: spec.environment,
  }
}

function commandOf(spec: JobSpec): RunnerOrder['command'] {
  if (spec.command !== null) return spec.command
  const { interpreter, args = [] } = spec.input as CustomScriptInput
  return [interpreter ?? null, scriptName(spec), ...args]
}

/** What the script of a `custom_script` is called in the job's folder. */
export function scriptName({ input }: JobSpec): string {
  const { interpreter } = input as CustomScriptInput
  return interpreter === undefined || /python/.test(interpreter) ? 'script.py' : 'script'
}

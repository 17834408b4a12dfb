import type { JobSpecInput } from '@stoker/protocol'
import { AnswerError } from './answer-error.ts'
import type { CustomBody } from './bodies.ts'

/** The middle of the old scale is the ordinary priority of the house; each step is worth ten. */
const MIDDLE_PRIORITY = 5
const STEP = 10

/** A custom task as a job: one GPU of the asked difficulty, an image, and folders that the worker's owner allows. */
export function customSpec(body: CustomBody, labels: Record<string, string>): JobSpecInput {
  const mounts = Object.entries(body.volume_mounts).map(([source, target]) => ({ source, ...targetOf(target) }))
  return {
    name: `custom ${body.job_type}`,
    image: body.docker_image,
    ...(body.command.length === 0 ? {} : { command: body.command }),
    env: { ...(body.model_id === undefined ? {} : { MODEL_NAME: body.model_id }), ...body.env_vars },
    input: body.metadata as NonNullable<JobSpecInput['input']>,
    timeout: body.timeout_seconds,
    priority: (body.priority - MIDDLE_PRIORITY) * STEP,
    resources: { gpus: 1, gpuDifficulty: body.task_difficulty, cpus: 1 },
    container: { workdir: 'image' },
    ...(mounts.length === 0 ? {} : { mounts }),
    labels,
  }
}

/** `/data`, `/data:ro` or `/data:rw`. */
function targetOf(text: string): { target: string; readOnly: boolean } {
  const [, target = text, mode = 'ro', rest = ''] = /^([^:]*)(?::(ro|rw))?(.*)$/s.exec(text) ?? []
  if (rest !== '' || !target.startsWith('/'))
    throw new AnswerError(400, `volume_mounts: found "${text}"; a target is like "/data" or "/data:rw"`)
  return { target, readOnly: mode === 'ro' }
}

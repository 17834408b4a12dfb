import { type GpuDifficulty, type JobSpecInput, parseJobSpec, writeSpec } from '@stoker/protocol'
import type { State } from '../../engine/state.ts'
import { refuseWhenFull } from '../../serving/refuse-when-full.ts'
import { AnswerError } from './answer-error.ts'
import type { GpuServiceContext } from './context.ts'
import { seenDevices } from './difficulty.ts'

/** Long enough that a client who obeys does not hammer, short beside any task. */
const RETRY_AFTER_SECONDS = 5

export interface Admission {
  readonly owner: string
  readonly spec: JobSpecInput
  readonly difficulty: GpuDifficulty
  /** It may stay queued; otherwise it is placed at once or refused. */
  readonly waits: boolean
  /** Comes in the same moment as the job, behind it, and is ended with it. */
  readonly followedBy?: ((id: string) => Promise<unknown>) | undefined
}

/** The id of a job that is durable and has its GPU, or waits for it as asked; everything else is an answer with its status. */
export async function admit(context: GpuServiceContext, admission: Admission): Promise<string> {
  const { engine, newId, unschedulable } = context
  const parsed = parseJobSpec(admission.spec)
  const checked = parsed.ok ? context.programs.check(parsed.spec) : parsed
  if ('issues' in checked)
    throw new AnswerError(400, checked.issues.map(({ path, message }) => `${path}: ${message}`).join('; '))
  refuseWhenFull(context.diskGuard)
  const { spec } = checked
  const needsGpu = spec.resources.gpus > 0
  const id = newId()
  const job = { id, spec, specText: writeSpec(spec), retryOf: null }
  const { owner, waits, difficulty } = admission
  const refusal = await engine.read(state => {
    const reason = unschedulable(state, job)
    if (reason !== null) return needsGpu && !has(state, difficulty) ? noGpu(difficulty) : new AnswerError(400, reason)
    return needsGpu && !waits && !hasFree(state, difficulty) ? noGpu(difficulty) : null
  })
  if (refusal !== null) throw refusal
  const submitted = engine.execute({ kind: 'submit', owner, jobs: [job], key: null, failFast: false })
  const [{ firstSeq: seq }] = await Promise.all([submitted, admission.followedBy?.(id)])
  if (waits || (await engine.read(({ active }) => active.has(seq)))) return id
  const { effect } = await engine.execute({ kind: 'cancel', job: seq, by: 'gpu-service: nothing was free for it' })
  if (effect === 'ended') return id
  throw needsGpu ? noGpu(difficulty) : noWorker()
}

/** That no worker has such a device is no fault of the request; an image or a mount that none allows is. */
function has(state: State, difficulty: GpuDifficulty): boolean {
  return seenDevices(state).some(device => device.difficulty === difficulty)
}

function hasFree(state: State, difficulty: GpuDifficulty): boolean {
  return seenDevices(state).some(device => device.difficulty === difficulty && device.isFree)
}

function noGpu(difficulty: GpuDifficulty): AnswerError {
  return new AnswerError(503, `No available GPU with difficulty=${difficulty}`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}

function noWorker(): AnswerError {
  return new AnswerError(503, 'No available worker', { retryAfterSeconds: RETRY_AFTER_SECONDS })
}

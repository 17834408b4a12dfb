import { type JobSpec, writeSpec } from '@stoker/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { NewJob } from '../../../engine/commands.ts'
import type { DialectCaller } from '../../../serving/dialect-caller.ts'
import { refuseWhenFull } from '../../../serving/refuse-when-full.ts'
import { admit, SUBMITTERS } from './admit.ts'
import { badRequest, ConsumerError } from './consumer-error.ts'
import type { ConsumerContext } from './context.ts'
import { isoTime } from './iso-time.ts'
import { resourcesOf } from './job-record.ts'
import { type ProjectJob, projectJob } from './project-job.ts'
import { storeProject } from './store-project.ts'
import { type TakenProject, takeProject } from './take-project.ts'

const MOST_WORKERS = 64

/** Projects come in here; the answer leaves once the job is durable. */
export function addSubmitRoutes(service: FastifyInstance, context: ConsumerContext): void {
  service.post('/api/jobs', (request, reply) => submit(context, request, reply, () => null))
  service.post('/api/jobs/distributed', (request, reply) => submit(context, request, reply, workersAsked))
}

async function submit(
  context: ConsumerContext,
  request: FastifyRequest,
  reply: FastifyReply,
  workersOf: (taken: TakenProject) => number | null,
): Promise<FastifyReply> {
  const caller = await admit(context, request, SUBMITTERS)
  refuseWhenFull(context.diskGuard)
  return takeProject(context, request, async taken => {
    const numWorkers = workersOf(taken)
    const fleet = await context.engine.read(({ workers }) => ({ workers: new Map(workers) }))
    const made = await projectJob(taken, numWorkers, fleet)
    const { job, warnings } = await choose(context, made, numWorkers)
    await storeProject(context, caller.owner, taken.zip)
    await accept(context, caller, job, taken.zip.sha256)
    const row = await context.queries.jobById(job.id)
    return reply.code(201).send({
      success: true,
      message: 'Job submitted successfully',
      job_id: job.id,
      project_name: made.project.name,
      status: 'pending',
      resources: resourcesOf(job.spec),
      created_at: isoTime(row?.submittedAt ?? context.now()),
      ...(numWorkers === null ? {} : { is_distributed: true, num_workers: numWorkers }),
      ...(warnings.length === 0 ? {} : { warnings }),
    })
  })
}

/** In its image where some worker can run that, else without. What is asked for of several workers must fit one, or it would wait for ever. */
async function choose({ engine, unschedulable, newId }: ConsumerContext, made: ProjectJob, numWorkers: number | null) {
  const id = newId()
  const plain = jobOf(id, made.plain)
  const contained = made.contained === null ? null : jobOf(id, made.contained)
  const [withoutImage, withImage] = await engine.read(state => [
    unschedulable(state, plain),
    contained === null ? null : unschedulable(state, contained),
  ])
  if (contained !== null && withImage === null) return { job: contained, warnings: made.warnings }
  if (numWorkers !== null && withoutImage !== null)
    throw new ConsumerError(
      409,
      'No worker can run the job',
      `${numWorkers} workers run on one machine here: ${withoutImage}`,
    )
  const note = contained === null ? [] : [`it runs without its image ${made.project.image}: ${withImage}`]
  return { job: plain, warnings: [...made.warnings, ...note] }
}

function jobOf(id: string, made: JobSpec): NewJob {
  const spec = { ...made, env: { ...made.env, TRAINFORGE_JOB_ID: id } }
  return { id, spec, specText: writeSpec(spec), retryOf: null }
}

async function accept({ blobs, engine }: ConsumerContext, { owner }: DialectCaller, job: NewJob, sha256: string) {
  const { found, release } = await blobs.hold(owner, [sha256])
  try {
    if (!found.has(sha256)) throw new Error(`content ${sha256} was stored for ${owner}, and is gone`)
    await engine.execute({ kind: 'submit', owner, jobs: [job], key: null, failFast: false })
  } finally {
    release()
  }
}

function workersAsked({ fields, config }: TakenProject): number {
  const inConfig = typeof config === 'object' && config !== null && 'num_workers' in config ? config.num_workers : null
  const text = fields.get('num_workers') ?? (inConfig === null ? '' : String(inConfig))
  const count = Number(text)
  if (/^\d{1,4}$/.test(text) && count >= 1 && count <= MOST_WORKERS) return count
  throw badRequest(
    `num_workers: found ${JSON.stringify(text.slice(0, 50))}; allowed: a whole number from 1 to ${MOST_WORKERS}`,
  )
}

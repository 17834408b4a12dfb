import { Readable as NodeReadable, type Readable } from 'node:stream'
import { zipOf } from '@stoker/files'
import { type ArtifactRow, isInnerPath, type JobRow, MAX_ARTIFACTS } from '@stoker/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DialectCaller } from '../../../serving/dialect-caller.ts'
import { ANYONE, admit, maySee, READERS } from './admit.ts'
import { ConsumerError } from './consumer-error.ts'
import type { ConsumerContext } from './context.ts'
import { findJob } from './find-job.ts'
import { isoTime } from './iso-time.ts'
import { projectZip } from './project-zip.ts'

type JobRequest = FastifyRequest<{ Params: { id: string } }>
type FileRequest = FastifyRequest<{ Params: { id: string; '*': string } }>

/** What a job began with and what it left. */
export function addResultRoutes(service: FastifyInstance, context: ConsumerContext): void {
  const { queries, blobs } = context

  async function resultsOf(request: JobRequest) {
    const row = await findJob(queries, await admit(context, request, READERS), request.params.id)
    return { row, files: await queries.artifacts(row.seq, row.attempts, '', MAX_ARTIFACTS) }
  }

  service.get('/api/jobs/:id/results', async (request: JobRequest, reply) => {
    const { row, files } = await resultsOf(request)
    if (files.length === 0) throw noResults(row)
    const at = row.endedAt ?? row.submittedAt
    const parts = files.map(file => ({
      path: file.path,
      size: file.size,
      executable: file.executable === 1,
      at,
      open: () => contentOf(context, file),
    }))
    return sendBytes(reply, zipOf(parts), { type: 'application/zip', saveAs: `results-${row.id}.zip`, size: null })
  })

  service.get('/api/jobs/:id/results/files', async (request: JobRequest) => {
    const { row, files } = await resultsOf(request)
    return {
      success: true,
      job_id: row.id,
      files: files.map(({ path, size, sha256 }) => ({
        name: path.split('/').at(-1),
        path,
        size,
        sha256,
        modified: isoTime(row.endedAt ?? row.submittedAt),
      })),
      count: files.length,
      total_size: files.reduce((sum, { size }) => sum + size, 0),
    }
  })

  service.get('/api/jobs/:id/results/file/*', async (request: FileRequest, reply) => {
    const caller = await admit(context, request, READERS)
    const path = request.params['*']
    if (!isInnerPath(path))
      throw new ConsumerError(403, 'Access denied', `${JSON.stringify(path.slice(0, 200))} leads out of the results`)
    const row = await findJob(queries, caller, request.params.id)
    const file = await queries.artifact(row.seq, row.attempts, path)
    if (file === null)
      throw new ConsumerError(404, 'File not found', `job ${row.id} left no file ${JSON.stringify(path.slice(0, 200))}`)
    const saveAs = path.split('/').at(-1) ?? path
    return sendBytes(reply, await contentOf(context, file), { type: OCTETS, saveAs, size: file.size })
  })

  service.get('/api/jobs/:id/files', async (request: JobRequest, reply) => {
    const caller = await admit(context, request, ANYONE)
    const { id } = request.params
    const saveAs = `${id.slice(0, 50)}.zip`
    const held = caller.role === 'worker' || caller.role === 'admin' ? await context.workers?.files(id, caller) : null
    if (held !== undefined && held !== null)
      return sendBytes(reply, held, { type: 'application/zip', saveAs, size: null })
    const row = await projectOf(context, caller, id)
    const { body, size } = await projectZip({ ...context, blobs }, row)
    return sendBytes(reply, body, { type: 'application/zip', saveAs, size })
  })
}

const OCTETS = 'application/octet-stream'

/** A worker may have the project of a job that a worker of this dialect runs, whoever owns it; all others what is theirs. */
async function projectOf({ queries, engine }: ConsumerContext, caller: DialectCaller, id: string): Promise<JobRow> {
  const isWorker = caller.role === 'worker'
  const row = await findJob(queries, isWorker ? { ...caller, role: 'admin' } : caller, id)
  if (!isWorker || maySee(caller, row.owner)) return row
  const isHeld = await engine.read(
    ({ active, workers }) => workers.get(active.get(row.seq)?.claim.worker ?? '')?.facts.dialect?.name === 'trainforge',
  )
  if (isHeld) return row
  throw new ConsumerError(403, 'Forbidden', `no worker of this protocol has job ${row.id}`)
}

async function contentOf({ blobs }: ConsumerContext, { owner, sha256, size }: ArtifactRow): Promise<Readable> {
  return size === 0 ? NodeReadable.from([]) : blobs.read({ owner, sha256 }, 0, size - 1)
}

function noResults({ id, state }: JobRow): ConsumerError {
  return new ConsumerError(404, 'Results not found', `job ${id} is ${state} and left no files`)
}

/** Names come from programs: they are only ever saved, never shown. */
function sendBytes(
  reply: FastifyReply,
  body: Readable,
  { type, saveAs, size }: { readonly type: string; readonly saveAs: string; readonly size: number | null },
): FastifyReply {
  if (size !== null) reply.header('content-length', size)
  const name = encodeURIComponent(saveAs.replaceAll(/\p{Surrogate}/gu, '')).replaceAll(/['()*]/g, '_')
  return reply
    .header('content-type', type)
    .header('content-disposition', `attachment; filename*=UTF-8''${name}`)
    .header('x-content-type-options', 'nosniff')
    .send(body)
}

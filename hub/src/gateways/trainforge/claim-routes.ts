import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AnswerError } from './answer-error.ts'
import { ClaimedStatusBody, IdBody, LogBatchBody, LogBody, read } from './bodies.ts'
import { reachedAt, workerCall } from './caller.ts'
import type { Desk } from './desk.ts'
import type { KnownWorker } from './ledger.ts'
import { RepeatedBatches } from './repeated-batches.ts'
import { MAX_RESULTS_BYTES } from './results.ts'
import type { Held } from './rules/held.ts'
import type { WorkerSide } from './worker-side.ts'

/** The calls of notebooks, which look for jobs, claim one, and tell of it without saying who they are. */
export function addClaimRoutes(service: FastifyInstance, desk: Desk, side: WorkerSide): void {
  const { claims, registrar, ledger, output, results } = desk
  const batches = new RepeatedBatches()
  const idOf = (request: FastifyRequest) => (request.params as { readonly id: string }).id

  const claimed = (request: FastifyRequest): { readonly worker: KnownWorker; readonly held: Held } => {
    const id = idOf(request)
    const found = ledger.find(id)
    if (found === undefined || registrar.find(found.worker.id, workerCall(request)) === undefined)
      throw new AnswerError(404, `no worker of yours has a job ${JSON.stringify(id.slice(0, 100))}`)
    registrar.hear(found.worker)
    return found
  }

  service.get('/api/jobs/pending', request => claims.pending(workerCall(request).caller))

  service.post('/api/jobs/:id/claim', async request => {
    const { worker_id } = read(IdBody, request.body)
    const worker = await registrar.known(worker_id, workerCall(request))
    await claims.claim(worker, idOf(request), reachedAt(request))
    return { success: true, job_id: idOf(request), worker_id: worker.id }
  })

  /** The runner script sends the same lines, and better: its word counts if it has called. */
  const log = async (request: FastifyRequest, lines: readonly { readonly message: string }[]) => {
    const { worker, held } = claimed(request)
    const text = lines.map(({ message }) => `${message}\n`).join('')
    const isNew = held.checkedInAt === null && text !== '' && !batches.isRepeated(held.id, request.body)
    if (isNew) await output.add(worker.key, held.fence, 'stdout', Buffer.from(text))
    return { success: true }
  }
  service.post('/api/jobs/:id/logs', request => log(request, [read(LogBody, request.body)]))
  service.post('/api/jobs/:id/logs/batch', request => log(request, read(LogBatchBody, request.body).logs))

  service.put('/api/jobs/:id/status', async request => {
    const body = read(ClaimedStatusBody, request.body)
    if (ledger.find(idOf(request)) !== undefined)
      await side.update(claimed(request).held.id, workerCall(request).caller, body)
    return { success: true }
  })

  service.post('/api/jobs/:id/results', async request => {
    const upload = await request.file({ limits: { files: 1, fileSize: MAX_RESULTS_BYTES } })
    if (upload === undefined) throw new AnswerError(400, 'results come as a form with the file results_zip; found none')
    const found = ledger.find(idOf(request))
    if (found === undefined) {
      upload.file.resume()
      return { success: true, kept: false }
    }
    const { held } = claimed(request)
    await results.keep(held, upload.file)
    return { success: true, kept: true }
  })
}

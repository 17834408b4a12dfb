import { sha256 } from '@stoker/files'
import { formatSize, type JobRow, type JobSpec, MAX_SPEC_BYTES, Refused, writeSpec } from '@stoker/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CreateBody, SubmitBody } from './bodies.ts'
import { CUSTOMERS, callerOf } from './caller.ts'
import { chooseProvider } from './choose-provider.ts'
import type { ConsumerDesk } from './desk.ts'
import { estimatedCost, multiplierOf, priceFor } from './formulas/price.ts'
import { labelsOf } from './job-labels.ts'
import { specOf } from './job-spec.ts'
import { viewJobDetails } from './job-views.ts'
import { readAs } from './read-body.ts'

type Wish = CreateBody & { readonly budget?: number | undefined }

/** Jobs come in here; each is durable before it is answered. */
export function addSubmitRoutes(scope: FastifyInstance, desk: ConsumerDesk): void {
  const { context } = desk

  scope.post('/api/jobs/create', async request => {
    const { owner } = await callerOf(context, request, CUSTOMERS)
    const { row, cost, notes } = await accept(desk, request, owner, readAs(CreateBody, request.body))
    const message = [...notes, 'no money is held or paid by this hub'].join('; ')
    return { success: true, job: await viewJobDetails(context, row), estimatedCost: cost, message }
  })

  scope.post('/api/jobs/submit', async request => {
    const { owner } = await callerOf(context, request, CUSTOMERS)
    const { dataset, inputData = {}, ...body } = readAs(SubmitBody, request.body)
    const wish = { ...body, inputData: dataset === undefined ? inputData : { ...inputData, dataset } }
    const { row, notes } = await accept(desk, request, owner, wish as Wish)
    const message = notes.length === 0 ? {} : { message: notes.join('; ') }
    return { success: true, jobId: row.id, job: await viewJobDetails(context, row), ...message }
  })
}

interface Accepted {
  readonly row: JobRow
  readonly cost: number
  readonly notes: readonly string[]
}

async function accept(desk: ConsumerDesk, request: FastifyRequest, owner: string, wish: Wish): Promise<Accepted> {
  const { context } = desk
  const key = keyOf(request, wish)
  refuseWhenFull(desk)
  const providers = await desk.providers()
  const chosen = chooseProvider(wish, providers, context.refusalsOf)
  const available = providers.filter(({ isActive }) => isActive).map(({ pricePerHour }) => pricePerHour)
  const price = priceFor(chosen.provider?.pricePerHour ?? null, wish.maxPrice ?? null, available)
  const cost = estimatedCost(wish.computeNeeded, price.perHour, multiplierOf(wish.modelType))
  const labels = labelsOf({
    type: wish.modelType,
    computeNeeded: wish.computeNeeded,
    user: userOf(request, wish),
    maxPrice: wish.maxPrice,
    budget: wish.budget,
    escrow: wish.escrowTxHash,
    estimatedCost: cost,
  })
  const spec = programSpec(context, specOf(wish, chosen, labels))
  const specText = writeSpec(spec)
  refuseLarge(specText)
  const jobs = [{ id: context.newId(), spec, specText, retryOf: null }]
  const done = await context.engine.execute({ kind: 'submit', owner, jobs, key, failFast: false })
  const [row] = await context.queries.jobsBySeq([done.firstSeq])
  if (row === undefined) throw new Error(`job ${done.firstSeq} was accepted, but has no row`)
  const [reason] = done.unschedulable
  const waits = typeof reason === 'string' ? [`it waits for a provider: ${reason}`] : []
  return { row, cost, notes: done.repeated ? ['it was created before with this key'] : [...chosen.notes, ...waits] }
}

/** With what its program needs; what the program would refuse is refused here. */
function programSpec({ programs }: ConsumerDesk['context'], spec: JobSpec): JobSpec {
  const checked = programs.check(spec)
  if ('spec' in checked) return checked.spec
  const text = checked.issues.map(({ path, message }) => `${path.replace(/^input\b/, 'inputData')}: ${message}`)
  throw new Refused('request.invalid', text.join('; '))
}

/** The hash is of what was asked: where it may run is found out anew every time. */
function keyOf({ headers }: FastifyRequest, wish: Wish): { key: string; hash: string } | null {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || key.length < 1 || key.length > 200)
    throw new Refused('request.invalid', `Idempotency-Key: found ${key.length} characters; allowed: 1 to 200`)
  return { key, hash: sha256(JSON.stringify(wish)) }
}

/** A name of the client's own; whose job it is follows from the token. */
function userOf({ headers }: FastifyRequest, { userId, qubicAddress }: Wish): string | undefined {
  const named = headers['x-user-id']
  return userId ?? (typeof named === 'string' && named !== '' ? named.slice(0, 200) : qubicAddress)
}

function refuseLarge(specText: string): void {
  const bytes = Buffer.byteLength(specText)
  if (bytes > MAX_SPEC_BYTES)
    throw new Refused(
      'request.too_large',
      `the job has ${formatSize(bytes)}, at most ${formatSize(MAX_SPEC_BYTES)} are taken; a large script comes by scriptUrl`,
    )
}

function refuseWhenFull({ context }: ConsumerDesk): void {
  const shortage = context.diskGuard()
  if (shortage === null) return
  const { freeBytes, neededBytes } = shortage
  throw new Refused(
    'disk.full',
    `the disk of the hub has ${formatSize(freeBytes)} free, new work needs ${formatSize(neededBytes)}`,
  )
}

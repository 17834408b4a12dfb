import { timingSafeEqual } from 'node:crypto'
import { sha256 } from '@stoker/files'
import { CHECKPOINT_ATTEMPT, type Fence, fenceKey, MAX_CHECKPOINT_FILES, Refused, readSpec } from '@stoker/protocol'
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { claimKey, type State } from '../engine/state.ts'
import type { RouteContext } from './context.ts'

/** What a worker may touch on behalf of one attempt. */
export interface AttemptCall {
  readonly owner: string
  /** SHA-256 of the files its spec names, and of what an earlier attempt left to go on from. */
  readonly files: ReadonlySet<string>
}

const WORKER = /^worker +([\x21-\x39\x3b-\x7e]{1,200}):([\x21-\x7e]{1,300}) *$/i
const FENCE = /^(\d{1,15})-(\d{1,15})-(\d{1,9})$/
const calls = new WeakMap<FastifyRequest, AttemptCall>()

/** Lets a worker in with its own secret, for an attempt it holds now; afterwards `attemptOf` knows which. */
export function attemptGuard({ engine, queries }: RouteContext): onRequestAsyncHookHandler {
  return async request => {
    const { worker, hash } = workerOf(request.headers.authorization)
    const fence = fenceOf((request.params as { readonly attempt?: string }).attempt ?? '')
    const verdict = await engine.read(state => judge(state, worker, hash, fence))
    if (verdict === 'unknown') throw new Refused('auth.invalid', 'this hub knows no worker with this id and secret')
    const [job] = verdict === 'current' && fence !== null ? await queries.jobsBySeq([fence.job]) : []
    if (job === undefined) {
      const named = fence === null ? 'what the path names' : `attempt ${fenceKey(fence)}`
      throw new Refused('stale.attempt', `${named} is no attempt that worker ${worker} holds now`)
    }
    const { files } = readSpec(job.spec)
    const left =
      (fence?.attempt ?? 0) > 1 ? await queries.artifacts(job.seq, CHECKPOINT_ATTEMPT, '', MAX_CHECKPOINT_FILES) : []
    calls.set(request, { owner: job.owner, files: new Set([...files, ...left].map(({ sha256 }) => sha256)) })
  }
}

export function attemptOf(request: FastifyRequest): AttemptCall {
  const call = calls.get(request)
  if (call === undefined) throw new Error(`${request.method} ${request.url} has no guard, but asks for its attempt`)
  return call
}

/** A lost attempt that nobody took over may still come back, so its worker may go on with its files. */
function judge(state: State, id: string, hash: Buffer, fence: Fence | null): 'unknown' | 'stale' | 'current' {
  const worker = state.workers.get(id)
  if (worker === undefined || !timingSafeEqual(Buffer.from(worker.facts.secretHash, 'hex'), hash)) return 'unknown'
  if (fence === null) return 'stale'
  const claim = state.active.get(fence.job)?.claim
  const isHeld = claim?.worker === id && claimKey(claim) === fenceKey(fence)
  const mayReturn = worker.lost.has(fenceKey(fence)) && state.queued.get(fence.job)?.attempts === fence.attempt
  return isHeld || mayReturn ? 'current' : 'stale'
}

function workerOf(header: string | undefined): { readonly worker: string; readonly hash: Buffer } {
  if (header === undefined) throw new Refused('auth.missing', 'send the header "Authorization: Worker <id>:<secret>"')
  const [, worker, secret] = WORKER.exec(header) ?? []
  if (worker === undefined || secret === undefined)
    throw new Refused('auth.invalid', 'the Authorization header is not of the form "Worker <id>:<secret>"')
  return { worker, hash: Buffer.from(sha256(secret), 'hex') }
}

function fenceOf(text: string): Fence | null {
  const [job, epoch, attempt] = (FENCE.exec(text) ?? []).slice(1).map(Number)
  return job === undefined || epoch === undefined || attempt === undefined ? null : { job, epoch, attempt }
}

import { timingSafeEqual } from 'node:crypto'
import { pickOutputs, sha256 } from '@stoker/files'
import { artifactIssue, MAX_ARTIFACTS, type OutputStream, Refused, readSpec } from '@stoker/protocol'
import { limitsOf } from '../../engine/owner-limits.ts'
import { AnswerError } from './answer-error.ts'
import { readAttemptId } from './attempt-id.ts'
import type { TrainForgeContext } from './context.ts'
import type { SaidByRunner } from './ends.ts'
import { type KnownWorker, type Ledger, noteOf } from './ledger.ts'
import type { LiveOutput } from './live-output.ts'
import type { Registrar } from './registrar.ts'
import type { Reports } from './reports.ts'
import type { Held } from './rules/held.ts'
import { type RunnerOrder, runnerOrder } from './runner-order.ts'

/** A runner that showed its token. */
export interface RunnerCall {
  readonly worker: KnownWorker
  readonly held: Held
}

/** What a runner learns with every answer. */
export interface Word {
  readonly cancel: boolean
}

export interface RunnerPorts {
  readonly context: TrainForgeContext
  readonly ledger: Ledger
  readonly registrar: Registrar
  readonly reports: Reports
  readonly output: LiveOutput
}

const STALE = 'the attempt is over, or another one took its place: stop the program'

/** The hub's end of the runner scripts: each has a token that is good for one attempt. */
export class RunnerDesk {
  readonly #ports: RunnerPorts

  constructor(ports: RunnerPorts) {
    this.#ports = ports
  }

  enter(attempt: string, token: string | null): RunnerCall {
    const found = this.#ports.ledger.find(attempt)
    if (found === undefined) throw new AnswerError(410, STALE)
    if (token === null || !isSame(sha256(token), found.held.runner))
      throw new AnswerError(401, `the token is not that of attempt ${attempt.slice(0, 60)}`)
    found.held.checkedInAt = this.#ports.context.clock().lease
    this.#ports.registrar.hear(found.worker)
    return found
  }

  /** The runner is there: what shall it run? May be asked again. */
  async start({ worker, held }: RunnerCall): Promise<RunnerOrder & Word> {
    const { context, reports } = this.#ports
    const { engine, queries } = context
    await reports.running(worker, held)
    await engine.execute({ kind: 'note', worker: worker.key, note: noteOf(worker) })
    const word = await this.#word(held)
    const gpus = await engine.read(state => {
      const uuids = state.active.get(held.fence.job)?.claim.gpus ?? []
      const known = state.workers.get(worker.key)?.facts.hardware.gpus ?? []
      return known.filter(({ uuid }) => uuids.includes(uuid)).map(({ index }) => index)
    })
    const [row] = await queries.offers([held.fence.job])
    const job = readAttemptId(held.id)?.job
    if (row === undefined || job === undefined) throw new AnswerError(410, STALE)
    return { ...runnerOrder(job, readSpec(row.spec), gpus), ...word }
  }

  /** A lost attempt that nobody took over goes on with this. */
  async checkIn({ worker, held }: RunnerCall): Promise<Word> {
    if (held.phase !== 'running') await this.#ports.reports.running(worker, held)
    return this.#word(held)
  }

  async output(call: RunnerCall, stream: OutputStream, offset: number, bytes: Uint8Array): Promise<Word> {
    const { worker, held } = call
    const word = await this.checkIn(call)
    const spec = await this.#specOf(held)
    const most = spec.outputLimitBytes - offset
    const kept = bytes.length > most ? bytes.subarray(0, Math.max(0, most)) : bytes
    const at = this.#ports.context.clock().wall
    if (kept.length > 0)
      await this.#ports.output.take(worker.key, { fence: held.fence, stream, offset, at, bytes: kept })
    return word
  }

  /** Which of the files it sees are outputs. */
  async choose(call: RunnerCall, seen: readonly string[]) {
    await this.checkIn(call)
    const { outputs } = await this.#specOf(call.held)
    const { paths, count, unmatched } = pickOutputs(seen, outputs, MAX_ARTIFACTS)
    const error = count > MAX_ARTIFACTS ? `${count} files match, an attempt has at most ${MAX_ARTIFACTS}` : null
    return { paths, error, note: unmatched.map(glob => `no file matches ${JSON.stringify(glob)}`).join('; ') || null }
  }

  async store(call: RunnerCall, hash: string, size: number, body: AsyncIterable<Uint8Array>): Promise<void> {
    const { blobs, engine } = this.#ports.context
    await this.checkIn(call)
    const { owner, most } = await engine.read(state => {
      const bucket = state.active.get(call.held.fence.job)?.bucket ?? -1
      const name = state.buckets.get(bucket)?.owner
      return { owner: name, most: name === undefined ? null : limitsOf(state, name).bytes }
    })
    if (owner === undefined) throw new AnswerError(410, STALE)
    if (most !== null && blobs.bytesOf(owner) + size > most && (await blobs.find({ owner, sha256: hash })) === null)
      throw new Refused(
        'owner.storage',
        `${owner} stores ${blobs.bytesOf(owner)} bytes and sends ${size}; the limit is ${most}`,
      )
    const stored = await blobs.offset({ owner, sha256: hash })
    const lists = inLists(body, stored)
    await blobs.put({
      owner,
      sha256: hash,
      size,
      first: Math.min(stored, size),
      length: Math.max(0, size - stored),
      body: lists,
    })
  }

  async end(call: RunnerCall, said: SaidByRunner): Promise<void> {
    const wrong = artifactIssue(said.artifacts)
    if (wrong !== null) throw new AnswerError(400, wrong)
    await this.#ports.reports.end(call.worker, call.held, said)
  }

  async #word(held: Held): Promise<Word> {
    const active = await this.#ports.context.engine.read(state => state.active.get(held.fence.job))
    if (active === undefined || active.claim.attempt !== held.fence.attempt) throw new AnswerError(410, STALE)
    return { cancel: active.cancelBy !== null }
  }

  async #specOf(held: Held) {
    const [row] = await this.#ports.context.queries.offers([held.fence.job])
    if (row === undefined) throw new AnswerError(410, STALE)
    return readSpec(row.spec)
  }
}

/** The body without what is stored already. */
async function* inLists(body: AsyncIterable<Uint8Array>, skip: number): AsyncGenerator<readonly Uint8Array[], void> {
  let left = skip
  for await (const chunk of body) {
    const had = Math.min(left, chunk.length)
    left -= had
    if (had < chunk.length) yield [chunk.subarray(had)]
  }
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

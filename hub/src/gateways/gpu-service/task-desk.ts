import { isTerminal, type JobRow } from '@stoker/protocol'
import type { FastifyReply } from 'fastify'
import { BEGINNING, followJob } from '../../serving/follow-job.ts'
import { JobWatch } from '../../serving/job-watch.ts'
import { OpenStreams } from '../../serving/open-streams.ts'
import { EVENT_STREAM } from '../../serving/sse.ts'
import type { KeyHolder } from './api-key.ts'
import type { GpuServiceContext } from './context.ts'
import { attemptFacts } from './task-record.ts'
import { type TaskStreamPorts, taskStream } from './task-stream.ts'
import { Viewers } from './viewers.ts'

/** A program is asked, then told, then killed within this time. */
const LEAVE_MS = 15_000

/** Hands out the streams of tasks and knows who follows which. */
export class TaskDesk {
  readonly context: GpuServiceContext
  readonly views: { readonly deviceId: (uuid: string) => number | null; readonly now: () => number }
  readonly #ports: TaskStreamPorts
  readonly #open = new OpenStreams()
  readonly #viewers: Viewers

  constructor(context: GpuServiceContext) {
    const { engine, queries, streams, board, devices, now } = context
    this.context = context
    this.views = { deviceId: uuid => devices.of(uuid), now }
    this.#ports = {
      queries,
      streams,
      watch: new JobWatch({ engine, board }),
      now,
      deviceId: this.views.deviceId,
      sessionGpu: async id => {
        const row = await queries.jobById(id)
        if (row === null) return null
        return attemptFacts(row, await queries.attemptsOf(row.seq), 1)?.gpus[0] ?? null
      },
      ahead: seq => engine.read(state => context.ahead(state, seq)),
    }
    this.#viewers = new Viewers(row => {
      if (context.isStopping()) return
      const by = 'the disconnect policy: its client left'
      void engine.execute({ kind: 'cancel', job: row.seq, by }).catch(context.failed)
    })
  }

  /** All events of a task that was just admitted. */
  async follow(reply: FastifyReply, { owner }: KeyHolder, id: string): Promise<FastifyReply> {
    await this.context.devices.settled()
    const row = await this.context.queries.jobById(id)
    if (row === null) throw new Error(`task ${id} was admitted, but has no row`)
    return this.#send(reply, owner, row, signal => taskStream(this.#ports, row, 0, signal))
  }

  /** The events behind the last one a client has seen; 204 when it has seen all of a task that is over. */
  async resume(reply: FastifyReply, { owner }: KeyHolder, row: JobRow, after: number): Promise<FastifyReply> {
    await this.context.devices.settled()
    if (!isTerminal(row.state))
      return this.#send(reply, owner, row, signal => taskStream(this.#ports, row, after, signal))
    const gone = new AbortController()
    const rest = taskStream(this.#ports, row, after, gone.signal)
    const first = await rest.next()
    if (first.done === true) return reply.code(204).send()
    return this.#send(reply, owner, row, async function* (signal) {
      signal.addEventListener('abort', () => gone.abort(), { once: true })
      yield first.value
      yield* rest
    })
  }

  /** Whether a job has ended, which is waited for as long as programs get to leave. */
  async ends(id: string): Promise<boolean> {
    const { queries } = this.context
    const row = await queries.jobById(id)
    if (row === null) return true
    const timeout = AbortSignal.timeout(LEAVE_MS)
    const news = followJob(this.#ports, row, { attempt: 1, offsets: BEGINNING, hasOutput: false }, timeout)
    for await (const { kind } of news) if (kind === 'end') return true
    return false
  }

  async close(): Promise<void> {
    await this.#open.closeAll()
  }

  #send(
    reply: FastifyReply,
    owner: string,
    row: JobRow,
    follow: (signal: AbortSignal) => AsyncGenerator<string, void>,
  ): FastifyReply {
    const viewers = this.#viewers
    reply.header('cache-control', 'no-cache')
    const leave = viewers.enter(row)
    let hasSeenTheEnd = false
    reply.raw.once('close', () => leave(hasSeenTheEnd))
    return this.#open.sendTo(owner, reply, EVENT_STREAM, async function* (signal) {
      yield* follow(signal)
      hasSeenTheEnd = !signal.aborted
    })
  }
}

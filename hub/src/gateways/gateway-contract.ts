import type { JobSpecInput } from '@stoker/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { GatewayHouse, type OpensGateway } from './test-gateway-house.ts'

/** A worker of a dialect as a test drives it: it does one job at a time, and says what the test tells it to say. */
export interface ContractWorker {
  /** Its id in the house. */
  readonly id: string
  /** Comes with empty hands, as often as it takes, until it is given a job; tells the job's id. */
  receive(): Promise<string>
  /** Says that the job runs, with its first progress. */
  running(job: string): Promise<void>
  progress(job: string, percent: number): Promise<void>
  succeed(job: string, result: Readonly<Record<string, string>>): Promise<void>
  fail(job: string, error: string): Promise<void>
  /** Says nothing any more, and hears nothing. */
  vanish(): Promise<void>
  /** Is there again with what it had, as if nothing had been. */
  comeBack(): Promise<void>
  /** Stops the job as it is told to, and says what its protocol has for that. */
  stopped(job: string): Promise<void>
  /** Says that it leaves. */
  leave(): Promise<void>
  close(): Promise<void>
}

export interface GatewayDriver {
  readonly dialect: string
  readonly opens: OpensGateway
  join(house: GatewayHouse, name: string): Promise<ContractWorker>
  /** What every worker of the dialect can run, verified. */
  readonly job: JobSpecInput
  /** So much silence ends any young lease. */
  readonly silenceMs: number
}

const SOON = { interval: 2, timeout: 15_000 }

/** What every gateway does, whatever its workers speak. */
export function gatewayContract({ dialect, opens, join, job, silenceMs }: GatewayDriver): void {
  describe(`the ${dialect} gateway`, () => {
    let house: GatewayHouse
    let workers: ContractWorker[]
    beforeEach(async () => {
      house = await GatewayHouse.open(opens)
      workers = []
    })
    afterEach(async () => {
      for (const worker of workers) await worker.close()
      await house.close()
    })

    const enter = async (name: string): Promise<ContractWorker> => {
      const worker = await join(house, name)
      workers.push(worker)
      return worker
    }
    const stateOf = async (id: string) => (await house.job(id)).state
    const resultOf = async (id: string) => JSON.parse((await house.job(id)).result ?? 'null')
    /** A worker's word and what it brings about may be two things. */
    const becomes = (id: string, state: string) => vi.waitFor(async () => expect(await stateOf(id)).toBe(state), SOON)
    const endsOf = async (id: string) => {
      const { seq } = await house.job(id)
      const rows = await house.store.queries.journalAfter(0, 100_000)
      const changes = rows.flatMap(({ body }) => JSON.parse(body).changes)
      return changes.filter(
        each => each.job === seq && (each.c === 'ended' || (each.c === 'attemptEnded' && each.next !== 'queued')),
      )
    }

    it('knows who came, and that it is there', async () => {
      const worker = await enter('one')
      const known = await house.engine.read(state => state.workers.get(worker.id))
      expect(known).toMatchObject({ connected: true, facts: { name: 'one' } })
      expect(known?.facts.dialect?.name ?? 'native').toBe(dialect)
    })

    it('gives a job, hears how it goes, and keeps its result', async () => {
      const worker = await enter('one')
      const id = await house.submit(job)
      expect(await worker.receive()).toBe(id)
      expect(await house.job(id)).toMatchObject({ state: 'active', worker: worker.id, attempts: 1 })
      await worker.running(id)
      await vi.waitFor(async () => expect((await house.job(id)).attemptState).toBe('running'), SOON)
      await worker.progress(id, 40)
      const { seq } = await house.job(id)
      await vi.waitFor(() => expect(house.board.job(seq)?.progress?.percent).toBe(40), SOON)
      await worker.succeed(id, { answer: 'yes' })
      await becomes(id, 'succeeded')
      expect(await resultOf(id)).toMatchObject({ answer: 'yes' })
    })

    it('keeps the reason of a failure', async () => {
      const worker = await enter('one')
      const id = await house.submit(job)
      await worker.receive()
      await worker.running(id)
      await worker.fail(id, 'no luck')
      await becomes(id, 'failed')
      expect((await house.job(id)).error).toContain('no luck')
    })

    it('takes an end that comes without any news before it', async () => {
      const worker = await enter('one')
      const id = await house.submit(job)
      await worker.receive()
      await worker.succeed(id, { answer: 'quick' })
      await becomes(id, 'succeeded')
    })

    it.each([
      ['the same', (worker: ContractWorker, id: string) => worker.succeed(id, { answer: 'yes' })],
      ['another result', (worker: ContractWorker, id: string) => worker.succeed(id, { answer: 'no' })],
      ['the opposite', (worker: ContractWorker, id: string) => worker.fail(id, 'after all not')],
    ])('takes the first end only, when %s is said again', async (_, again) => {
      const worker = await enter('one')
      const id = await house.submit(job)
      await worker.receive()
      await worker.running(id)
      await worker.succeed(id, { answer: 'yes' })
      await becomes(id, 'succeeded')
      await again(worker, id)
      expect(await stateOf(id)).toBe('succeeded')
      expect(await resultOf(id)).toMatchObject({ answer: 'yes' })
      expect(await endsOf(id)).toHaveLength(1)
    })

    it('gives each job to one worker', async () => {
      const [one, two] = [await enter('one'), await enter('two')]
      const ids = [await house.submit(job), await house.submit(job)]
      const given = [await one.receive(), await two.receive()]
      expect(given.toSorted()).toEqual(ids.toSorted())
    })

    it('gives the next job when one has ended', async () => {
      const worker = await enter('one')
      const ids = [await house.submit(job), await house.submit(job)]
      for (const id of ids) {
        expect(await worker.receive()).toBe(id)
        await worker.running(id)
        await worker.succeed(id, {})
        await becomes(id, 'succeeded')
      }
    })

    it('gives the job of a worker that vanished to another, and hears no more of the first', async () => {
      const one = await enter('one')
      const id = await house.submit(job)
      await one.receive()
      await one.running(id)
      await one.vanish()
      await house.pass(silenceMs)
      expect(await stateOf(id)).toBe('queued')
      const two = await enter('two')
      expect(await two.receive()).toBe(id)
      await one.comeBack()
      await one.succeed(id, { by: 'one' })
      expect(await house.job(id)).toMatchObject({ state: 'active', worker: two.id, attempts: 2 })
      await two.running(id)
      await two.succeed(id, { by: 'two' })
      await becomes(id, 'succeeded')
      expect(await resultOf(id)).toMatchObject({ by: 'two' })
    })

    it('lets a worker that comes back go on with what nobody took', async () => {
      const worker = await enter('one')
      const id = await house.submit(job)
      await worker.receive()
      await worker.running(id)
      await worker.vanish()
      await house.pass(silenceMs)
      expect(await stateOf(id)).toBe('queued')
      await worker.comeBack()
      await worker.progress(id, 60)
      await worker.succeed(id, { answer: 'late' })
      await becomes(id, 'succeeded')
      expect(await house.job(id)).toMatchObject({ attempts: 1, worker: worker.id })
    })

    it('is the same after a restart of the hub, to a worker in the middle of a job', async () => {
      const worker = await enter('one')
      const id = await house.submit(job)
      await worker.receive()
      await worker.running(id)
      await worker.vanish()
      await house.restart()
      await worker.comeBack()
      await worker.progress(id, 70)
      await worker.succeed(id, { answer: 'yes' })
      await becomes(id, 'succeeded')
      expect(await house.job(id)).toMatchObject({ attempts: 1, lost: 0 })
    })

    it('gives every lease its full term after a restart', async () => {
      const worker = await enter('one')
      const id = await house.submit(job)
      await worker.receive()
      await worker.running(id)
      await worker.vanish()
      await house.pass(silenceMs / 2)
      await house.restart()
      await house.pass(silenceMs / 2)
      expect(await stateOf(id)).toBe('active')
      await house.pass(silenceMs / 2 + 1000)
      expect(await stateOf(id)).toBe('queued')
    })

    it('knows after a restart what had ended before', async () => {
      const worker = await enter('one')
      const id = await house.submit(job)
      await worker.receive()
      await worker.running(id)
      await worker.succeed(id, { answer: 'yes' })
      await becomes(id, 'succeeded')
      await worker.vanish()
      await house.restart()
      await worker.comeBack()
      await worker.succeed(id, { answer: 'again' })
      expect(await endsOf(id)).toHaveLength(1)
      expect(await resultOf(id)).toMatchObject({ answer: 'yes' })
    })

    it('ends a job that someone cancels as canceled, and only once', async () => {
      const worker = await enter('one')
      const id = await house.submit(job)
      await worker.receive()
      await worker.running(id)
      await house.cancel(id)
      await worker.stopped(id)
      await becomes(id, 'canceled')
      expect(await endsOf(id)).toHaveLength(1)
    })

    it('gives the job of a worker that leaves to others at once', async () => {
      const worker = await enter('one')
      const id = await house.submit(job)
      await worker.receive()
      await worker.running(id)
      await worker.leave()
      await becomes(id, 'queued')
      expect(await (await enter('two')).receive()).toBe(id)
    })
  })
}

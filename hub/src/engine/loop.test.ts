import { type JobState, Refused } from '@stoker/protocol'
import { describe, expect, it } from 'vitest'
import { packed } from '../scheduler/packed.ts'
import { schedulingRules } from '../scheduler/rules.ts'
import { type Batch, Core } from './core.ts'
import { EngineLoop, type LoopPorts } from './loop.ts'
import { emptyState } from './state.ts'
import { aJob } from './test-house.ts'

class Full extends Error {}

/** A store whose commits wait until the test lets them through. */
function aLoop(options: { reserve?: boolean; jobRefs?: LoopPorts['journal']['jobRefs'] } = {}) {
  const commits: {
    readonly commit: Batch['commit']
    readonly done: () => void
    readonly fail: (error: unknown) => void
  }[] = []
  const durable: Batch['commit'][] = []
  const broken: unknown[] = []
  const ports: LoopPorts = {
    journal: {
      append: commit =>
        new Promise((resolve, reject) => {
          commits.push({
            commit,
            done: () => {
              durable.push(commit)
              resolve()
            },
            fail: reject,
          })
        }),
      journalEnd: async () => ({ n: durable.at(-1)?.journal?.n ?? 0, hash: durable.at(-1)?.journal?.hash ?? '' }),
      idempotency: async () => null,
      jobRefs: options.jobRefs ?? (async () => []),
    },
    now: () => ({ wall: 1000, lease: 0 }),
    soon: run => setImmediate(run),
    isDiskFull: error => error instanceof Full,
    openReserve: async () => options.reserve ?? true,
    recover: async () => new Core(emptyState(), packed, schedulingRules),
    broken: error => broken.push(error),
  }
  const loop = new EngineLoop(new Core(emptyState(), packed, schedulingRules), ports)
  const next = async () => {
    while (commits.length === 0) await new Promise(resolve => setImmediate(resolve))
    const first = commits.shift()
    if (first === undefined) throw new Error('no commit')
    return first
  }
  return { loop, next, durable, broken, commits }
}

const submit = (key: string | null = null) =>
  ({
    kind: 'submit',
    owner: 'ann',
    jobs: [aJob()],
    key: key === null ? null : { key, hash: 'h' },
    failFast: false,
  }) as const

describe('the engine loop', () => {
  it('hands a refusal of who looks to them alone, also while a commit is on its way', async () => {
    const { loop, next, broken } = aLoop()
    const refuse = () => {
      throw new Refused('worker.not_found', 'no such worker')
    }
    await expect(loop.read(refuse)).rejects.toThrow(/no such worker/)
    const reply = loop.execute(submit())
    const flight = await next()
    const looks = [loop.read(refuse), loop.read(state => state.queued.size)]
    flight.done()
    expect(await Promise.allSettled([...looks, reply])).toMatchObject([
      { status: 'rejected', reason: { code: 'worker.not_found' } },
      { status: 'fulfilled', value: 1 },
      { status: 'fulfilled' },
    ])
    expect(broken).toEqual([])
  })

  it('puts the commands of one moment into one commit', async () => {
    const { loop, next, commits } = aLoop()
    const replies = [loop.execute(submit()), loop.execute(submit()), loop.execute(submit())]
    ;(await next()).done()
    expect((await Promise.all(replies)).map(reply => reply.firstSeq)).toEqual([1, 2, 3])
    expect(commits).toEqual([])
  })

  it('reads the state of a dependency again when it ended meanwhile, once that end is durable', async () => {
    const reads: JobState[] = []
    const house = aLoop({
      jobRefs: async () => {
        const state = house.durable.length < 2 ? 'queued' : 'canceled'
        reads.push(state)
        return [{ id: 'a', seq: 1, owner: 'ann', state }]
      },
    })
    const { loop, next } = house
    const first = loop.execute({ ...submit(), jobs: [aJob({}, 'a')] })
    ;(await next()).done()
    await first
    const canceled = loop.execute({ kind: 'cancel', job: 1, by: 'ann' })
    const after = (on: 'end' | 'success') =>
      loop.execute({ ...submit(), jobs: [aJob({ dependsOn: [{ job: 'a', on }] })] })
    const refusal = after('success').catch((error: unknown) => error)
    const met = after('end')
    ;(await next()).done()
    await canceled
    const last = await next()
    expect(JSON.parse(last.commit.journal?.body ?? '').changes[0].jobs[0]).not.toHaveProperty('dependsOn')
    last.done()
    expect((await met).firstSeq).toBe(2)
    expect(await refusal).toMatchObject({ code: 'dependency.unmeetable' })
    expect(reads).toEqual(['queued', 'queued', 'canceled', 'canceled'])
  })

  it('goes on by itself while dependents of an ended job are left', async () => {
    const house = aLoop({ jobRefs: async () => [{ id: 'a', seq: 1, owner: 'ann', state: 'queued' }] })
    const { loop, next } = house
    const jobs = Array.from({ length: 1500 }, () => aJob({ dependsOn: ['a'] }))
    for (const batch of [[aJob({}, 'a')], jobs]) {
      const reply = loop.execute({ ...submit(), jobs: batch })
      ;(await next()).done()
      await reply
    }
    const canceled = loop.execute({ kind: 'cancel', job: 1, by: 'ann' })
    ;(await next()).done()
    await canceled
    expect(await loop.read(state => state.waiting.size)).toBe(500)
    ;(await next()).done()
    expect(await loop.read(state => state.waiting.size)).toBe(0)
  })

  it('tells nobody before the commit is durable: no reply, no publication, no read', async () => {
    const { loop, next } = aLoop()
    const told: string[] = []
    loop.onCommit(() => told.push('published'))
    const reply = loop.execute(submit()).then(() => told.push('replied'))
    const commit = await next()
    const read = loop.read(state => state.queued.size).then(size => told.push(`read ${size}`))
    await new Promise(resolve => setImmediate(resolve))
    expect(told).toEqual([])
    commit.done()
    await Promise.all([reply, read])
    expect(told.sort()).toEqual(['published', 'read 1', 'replied'])
  })

  it('decides the next batch while one is being written, and tells of them in order', async () => {
    const { loop, next } = aLoop()
    const told: number[] = []
    loop.onCommit(batch => told.push(batch.n))
    const first = loop.execute(submit())
    const one = await next()
    const second = loop.execute(submit())
    const two = await next()
    const read = loop.read(state => state.queued.size)
    one.done()
    expect((await first).firstSeq).toBe(1)
    expect(told).toEqual([1])
    two.done()
    expect([(await second).firstSeq, await read]).toEqual([2, 2])
    expect(told).toEqual([1, 2])
  })

  it('tells a reader what it saw, and nothing of a later batch that is not durable yet', async () => {
    const { loop, next } = aLoop()
    const first = loop.execute(submit())
    const one = await next()
    const read = loop.read(state => state.queued.size)
    const second = loop.execute(submit())
    const two = await next()
    one.done()
    expect(await read).toBe(1)
    two.done()
    await Promise.all([first, second])
  })

  it('has no third batch on its way, and waits with what came meanwhile', async () => {
    const { loop, next, commits } = aLoop()
    const replies = [loop.execute(submit())]
    const one = await next()
    replies.push(loop.execute(submit()))
    const two = await next()
    replies.push(loop.execute(submit()), loop.execute(submit()))
    await new Promise(resolve => setImmediate(resolve))
    expect(commits).toEqual([])
    one.done()
    const three = await next()
    two.done()
    three.done()
    expect((await Promise.all(replies)).map(reply => reply.firstSeq)).toEqual([1, 2, 3, 4])
  })

  it('drops both batches when the first did not fit the disk', async () => {
    const { loop, next } = aLoop()
    const lost = loop.execute(submit())
    const one = await next()
    const token = loop.execute({
      kind: 'addToken',
      id: 't',
      hash: 'h',
      role: 'read',
      owner: 'ann',
      label: '',
      expiresAt: null,
    })
    const two = await next()
    const idle = loop.execute({ kind: 'tick' })
    one.fail(new Full())
    two.fail(new Error('journal row 2 cannot follow row 0'))
    await expect(lost).rejects.toMatchObject({ code: 'disk.full' })
    ;(await next()).done()
    expect([await token, await idle]).toEqual([null, null])
    expect(await loop.read(state => [state.queued.size, state.tokens.size])).toEqual([0, 1])
  })

  it('answers a refused command without failing the others of its batch', async () => {
    const { loop, next } = aLoop()
    const bad = loop.execute({ kind: 'drain', worker: 'nobody', on: true })
    const good = loop.execute(submit())
    ;(await next()).done()
    await expect(bad).rejects.toThrow(Refused)
    expect((await good).firstSeq).toBe(1)
  })

  it('lets the second of two submits with one key in one batch see the first', async () => {
    const { loop, next } = aLoop()
    const replies = [loop.execute(submit('k')), loop.execute(submit('k'))]
    ;(await next()).done()
    expect(await Promise.all(replies)).toMatchObject([
      { firstSeq: 1, repeated: false },
      { firstSeq: 1, repeated: true },
    ])
  })

  it('publishes a commit whose outcome was unknown but which is there', async () => {
    const { loop, next, durable, broken } = aLoop()
    const reply = loop.execute(submit())
    const commit = await next()
    durable.push(commit.commit)
    commit.fail(new Error('the connection broke'))
    expect((await reply).firstSeq).toBe(1)
    expect(broken).toEqual([])
  })

  it('ends the process when a commit failed and is not there', async () => {
    const { loop, next, broken } = aLoop()
    const reply = loop.execute(submit())
    ;(await next()).fail(new Error('input/output error'))
    await expect(reply).rejects.toThrow('input/output error')
    expect(broken).toHaveLength(1)
  })

  it('refuses new work on a full disk and still commits what ends work, from the reserve', async () => {
    const { loop, next, broken } = aLoop()
    const reply = loop.execute(submit())
    const token = loop.execute({
      kind: 'addToken',
      id: 't',
      hash: 'h',
      role: 'read',
      owner: 'ann',
      label: '',
      expiresAt: null,
    })
    ;(await next()).fail(new Full())
    await expect(reply).rejects.toMatchObject({ code: 'disk.full' })
    ;(await next()).done()
    expect(await token).toBeNull()
    expect(broken).toEqual([])
    expect(await loop.read(state => state.queued.size)).toBe(0)
  })

  it('commits nothing when nothing happened', async () => {
    const { loop, commits } = aLoop()
    await loop.execute({ kind: 'tick' })
    expect(commits).toEqual([])
  })
})

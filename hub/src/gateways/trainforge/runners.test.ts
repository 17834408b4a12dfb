import { sha256 } from '@stoker/files'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestGateway } from './test-gateway.ts'
import { END, GPUS, nodesOf } from './test-nodes.ts'

let gateway: TestGateway
beforeEach(async () => {
  gateway = await TestGateway.open()
})
afterEach(() => gateway.close())
const { register, poll, stateOf, runner } = nodesOf(() => gateway)

describe('a runner', () => {
  const given = async (spec: object = { command: 'true' }, max = 1) => {
    await register('n', { max, gpus: GPUS })
    const id = await gateway.submit(spec)
    expect(await poll('n')).toEqual([id])
    return { id, call: await runner(id) }
  }

  it('gets its order, sends output, and its word is the end', async () => {
    const { id, call } = await given({ command: ['echo', 'hi'], env: { A: 'b' }, resources: { gpus: 1 } })
    expect((await call('start')).json).toMatchObject({
      command: ['echo', 'hi'],
      env: { A: 'b', STOKER_JOB_ID: id, CUDA_VISIBLE_DEVICES: '0', GPU_DEVICE: '0' },
      cancel: false,
    })
    expect((await gateway.job(id)).attemptState).toBe('running')
    const text = Buffer.from('{"event":"progress","percent":40}\n{"event":"finish","status":"completed","result":7}\n')
    expect((await call('output?stream=stdout&offset=0', text)).json).toEqual({ cancel: false })
    expect((await call('output?stream=stdout&offset=0', text)).status).toBe(200)
    const gap = await call('output?stream=stdout&offset=500', text)
    expect(gap).toMatchObject({ status: 409, json: { known: text.length } })
    const { seq } = await gateway.job(id)
    expect(gateway.board.job(seq)?.progress?.percent).toBe(40)
    expect((await call('end', END)).status).toBe(200)
    expect(await gateway.job(id)).toMatchObject({ state: 'succeeded', result: '7' })
    expect((await call('check-in')).status).toBe(410)
    expect(gateway.board.job(seq)).toBeNull()
  })

  it('hears of a cancel with its next word, and ends as canceled', async () => {
    const { id, call } = await given()
    await call('start')
    const { seq } = await gateway.job(id)
    await gateway.engine.execute({ kind: 'cancel', job: seq, by: 'ada' })
    expect((await call('check-in')).json).toEqual({ cancel: true })
    await call('end', { ...END, exit_code: null, signal: 'SIGTERM', ended_by: 'cancel' })
    expect(await gateway.job(id)).toMatchObject({ state: 'canceled', reason: 'canceled by ada' })
  })

  it('uploads what the job left, once', async () => {
    const { id, call } = await given({ command: 'x', outputs: ['out/**'] })
    await call('start')
    expect((await call('outputs', { paths: ['out/a', 'b', 'out/deep/c'] })).json).toEqual({
      ...{ paths: ['out/a', 'out/deep/c'], error: null, note: null },
    })
    const hash = sha256('model')
    const put = (body: string) => call(`blobs/${hash}`, Buffer.from(body), 'PUT')
    expect((await put('wrong')).status).toBe(422)
    expect((await put('model')).status).toBe(200)
    expect((await put('model')).status).toBe(200)
    const artifacts = [{ path: 'out/a', sha256: hash, size: 5, executable: false }]
    expect((await call('end', { ...END, artifacts: [{ ...artifacts[0], path: '../x' }] })).status).toBe(400)
    expect((await call('end', { ...END, artifacts })).status).toBe(200)
    const { seq, state } = await gateway.job(id)
    expect(state).toBe('succeeded')
    expect(await gateway.store.queries.artifacts(seq, 1, '', 10)).toMatchObject([{ path: 'out/a', sha256: hash }])
  })

  it('is known again after a restart, and keeps its job while it checks in', async () => {
    const { id, call } = await given({ command: 'x' }, 4)
    await call('start')
    await gateway.restart()
    for (let n = 0; n < 30; n += 1) {
      expect((await call('check-in')).status).toBe(200)
      await gateway.pass(10)
    }
    expect(await gateway.job(id)).toMatchObject({ state: 'active', attempts: 1 })
    await gateway.pass(90)
    expect(await stateOf(id)).toBe('queued')
    expect((await call('check-in')).status).toBe(200)
    expect(await gateway.job(id)).toMatchObject({ state: 'active', attempts: 1 })
  })

  it('whose place another took is told to stop', async () => {
    const { id, call } = await given({ command: 'x' }, 4)
    await call('start')
    await gateway.pass(90)
    await register('other')
    expect(await poll('other')).toEqual([`${id}.2`])
    expect((await call('check-in')).status).toBe(410)
    expect((await call('output?stream=stdout&offset=0', Buffer.from('x'))).status).toBe(410)
    expect((await call('end', END)).status).toBe(200)
    expect(await stateOf(id)).toBe('active')
    expect(await gateway.engine.read(state => state.workers.get('trainforge:n')?.lost.size)).toBe(0)
  })

  it('needs the token of its attempt', async () => {
    const { id } = await given()
    const call = (authorization: string) =>
      gateway.call('POST', `/api/attempts/${id}/check-in`, { token: null, headers: { authorization } })
    for (const wrong of ['Bearer x', 'Basic eDp4', `Bearer ${gateway.token}`])
      expect((await call(wrong)).status).toBe(401)
    expect((await gateway.call('POST', '/api/attempts/nothing/check-in')).status).toBe(410)
  })

  it('keeps the slot of its node until that has looked', async () => {
    const { call } = await given({ command: 'x', resources: { gpus: 1 } }, 4)
    const next = await gateway.submit({ command: 'x', resources: { gpus: 1 } })
    await call('start')
    await call('end', END)
    expect(await poll('n')).toEqual([])
    await gateway.pass(15)
    expect(await poll('n')).toEqual([next])
  })
})

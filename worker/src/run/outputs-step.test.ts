import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '@stoker/files'
import type { EndedReport, Progress } from '@stoker/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { faults } from '../../../net/src/content/test-blob-hub.ts'
import { anOffer, useTransfers } from '../artifacts/test-transfers.ts'
import { OutputsStep } from './outputs-step.ts'

const there = useTransfers()
const folder = (...path: string[]) => join(there().folder, 'attempt', ...path)

beforeEach(async () => {
  await mkdir(folder('work', 'out'), { recursive: true })
  await writeFile(folder('work', 'out', 'a.bin'), 'same')
  await writeFile(folder('work', 'out', 'b.bin'), 'same', { mode: 0o755 })
  await writeFile(folder('work', 'c.txt'), 'c')
})

function aReport(of: Partial<EndedReport> = {}): EndedReport {
  const told = { exitCode: 0, signal: null, error: null, note: null, result: null, usage: null }
  const { fence } = anOffer()
  return { kind: 'ended', fence, at: 2, outcome: 'completed', startedAt: 1, ...told, ...of }
}

function aStep(outputs: string[] = ['out/*', 'c.txt']) {
  const progress: Progress[] = []
  const delivery = {
    ...{ report: () => {}, output: () => {}, ready: () => {} },
    progress: (_: unknown, p: Progress) => progress.push(p),
  }
  return { step: new OutputsStep(anOffer({ outputs }), folder(), there().transfers, delivery), progress }
}

const A = { path: 'out/a.bin', sha256: sha256('same'), size: 4, executable: false }
const B = { ...A, path: 'out/b.bin', executable: true }
const C = { path: 'c.txt', sha256: sha256('c'), size: 1, executable: false }

describe('the outputs of a program', () => {
  it('are uploaded, each content once, and listed in the report', async () => {
    const { step, progress } = aStep()
    expect(await step.finish(aReport())).toEqual(aReport({ artifacts: [C, A, B] }))
    expect(there().hub.seen.length).toBe(2)
    expect(there().hub.seen[0]).toMatchObject({
      path: expect.stringMatching(/^\/api\/v1\/attempts\/1-1-1\/blobs\/[0-9a-f]{64}$/),
      headers: { authorization: 'Worker w:s' },
    })
    expect(progress.at(-1)).toEqual({ percent: 100, operation: 'uploading outputs', metrics: {} })
  })

  it('of a failed program are kept too; a lost or never started attempt has none', async () => {
    const failed = aReport({ outcome: 'failed', exitCode: 3 })
    expect((await aStep().step.finish(failed)).artifacts).toHaveLength(3)
    for (const none of [aReport({ outcome: 'lost' }), aReport({ startedAt: null })])
      expect(await aStep().step.finish(none)).toBe(none)
  })

  it('are the list of the first collection after a crash, whatever else happened', async () => {
    await aStep().step.finish(aReport())
    await writeFile(folder('work', 'out', 'later'), 'x')
    expect((await aStep().step.finish(aReport())).artifacts).toEqual([C, A, B])
    expect(await readdir(folder())).toEqual(['outputs.json', 'work'])
  })

  it('that are missing are named in the note; links are no outputs', async () => {
    await symlink('/etc/passwd', folder('work', 'out', 'link'))
    const report = await aStep(['out/link', 'model.pt', 'c.txt']).step.finish(aReport())
    expect(report).toMatchObject({ outcome: 'completed', artifacts: [C] })
    expect(report.note).toBe('no file matches "out/link"; no file matches "model.pt"')
  })

  it('that cannot be kept fail the attempt with the reason', async () => {
    await writeFile(folder('work', 'bad\\name'), '')
    expect(await aStep(['bad*']).step.finish(aReport())).toMatchObject({
      outcome: 'failed',
      error: 'its outputs could not be kept: "bad\\\\name" has a name that cannot be kept',
    })
    there().hub.limit(2)
    expect(await aStep().step.finish(aReport())).toMatchObject({
      outcome: 'failed',
      error: expect.stringContaining('request.too_large'),
      artifacts: [C],
    })
  })

  it('wait for a hub that is away', async () => {
    there().hub.fail(faults('PUT', { kind: 'answer', status: 503 }, { kind: 'cut', afterBytes: 0 }))
    expect((await aStep().step.finish(aReport())).artifacts).toHaveLength(3)
  })
})

describe('an attempt that is to end while its outputs are uploaded', () => {
  async function stopped(cause: 'stale' | 'shutdown', of: Partial<EndedReport> = {}) {
    there().hub.fail(({ method, sha256: hash }) => (method === 'PUT' && hash === A.sha256 ? { kind: 'silent' } : null))
    const { step } = aStep()
    const report = step.finish(aReport(of))
    await expect.poll(() => [there().hub.seen.length, there().hub.blobs.size]).toEqual([2, 1])
    step.hurry(cause, 0)
    return report
  }

  it('ends with what is there', async () => {
    expect(await stopped('stale')).toMatchObject({ outcome: 'canceled', artifacts: [C] })
  })

  it('runs again elsewhere if its worker leaves', async () => {
    const report = await stopped('shutdown')
    expect(report).toMatchObject({ outcome: 'lost', error: expect.stringContaining('1 of 3 outputs') })
    expect(report.artifacts).toBeUndefined()
  })

  it('keeps its own outcome if its program failed', async () => {
    expect(await stopped('shutdown', { outcome: 'failed', error: 'exited with code 1' })).toMatchObject({
      outcome: 'failed',
      error: 'exited with code 1',
      artifacts: [C],
    })
  })
})

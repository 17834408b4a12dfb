import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '@stoker/files'
import type { AttemptReport } from '@stoker/protocol'
import { beforeEach, expect, it } from 'vitest'
import { anOffer, useTransfers } from '../artifacts/test-transfers.ts'
import { CheckpointStep, innerPath } from './checkpoint-step.ts'

const there = useTransfers()
let folder: string
let reports: AttemptReport[]
let step: CheckpointStep
beforeEach(async () => {
  folder = join(there().folder, 'attempt')
  await mkdir(join(folder, 'work', 'checkpoints', 'deep'), { recursive: true })
  reports = []
  const delivery = { report: (some: readonly AttemptReport[]) => reports.push(...some), ...SILENT }
  step = new CheckpointStep(anOffer(), folder, there().transfers, delivery)
})

const SILENT = { output: () => {}, progress: () => {}, ready: () => {} }
const write = (name: string, text: string) => writeFile(join(folder, 'work', 'checkpoints', name), text)
const kept = () => reports.flatMap(report => (report.kind === 'checkpoint' ? [report.checkpoint] : []))

it('the newest checkpoint is at the hub before it is told, and the end waits for it', async () => {
  await write('a.pt', 'one')
  await write('b.pt', 'two')
  step.heard({ path: '/work/checkpoints/a.pt', step: 1 })
  step.heard({ path: 'checkpoints/b.pt', step: 2 })
  await step.finish(false)
  expect(kept()).toEqual([{ step: 2, kind: 'file', files: [{ path: 'b.pt', sha256: sha256('two'), size: 3 }] }])
  expect([...there().hub.blobs.keys()]).toEqual([sha256('two')])
})

it('a folder is kept with all its files, and never what a link leads to', async () => {
  await write('deep/x', 'x')
  await write('y', 'y')
  await symlink('/etc/passwd', join(folder, 'work', 'checkpoints', 'link'))
  step.heard({ path: join(folder, 'work', 'checkpoints'), step: 7 })
  await step.finish(false)
  expect(kept()).toMatchObject([{ step: 7, kind: 'folder', files: [{ path: 'deep/x' }, { path: 'y' }] }])
})

it.each([
  ['is not there', { path: 'checkpoints/none' }],
  ['lies outside', { path: '/etc/passwd' }],
  ['climbs out', { path: 'checkpoints/../../offer.json' }],
  ['has no path', { step: 3 }],
])('a checkpoint that %s is passed over', async (_, fields) => {
  await writeFile(join(folder, 'offer.json'), '{}')
  step.heard(fields)
  await step.finish(false)
  expect(reports).toEqual([])
})

it('what a completed program left on its way is not brought any more', async () => {
  await write('a.pt', 'one')
  step.heard({ path: 'checkpoints/a.pt', step: 1 })
  await step.finish(true)
  expect(reports).toEqual([])
})

it('paths are those of the work folder, as the program sees it or as it is', () => {
  expect(innerPath('/work/a/b/', '/x/work')).toBe('a/b')
  expect(innerPath('/x/work/a', '/x/work')).toBe('a')
  expect(innerPath('./a', '/x/work')).toBe('a')
  expect(['/work', '/other/a', '..', '/work/../a'].map(path => innerPath(path, '/x/work'))).toEqual(Array(4).fill(null))
})

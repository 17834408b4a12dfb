import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Offer, parseJobSpec } from '@stoker/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { endedExecution } from './left-over.ts'
import { Workspaces } from './workspace.ts'

let root: string
let outside: string
let workspaces: Workspaces
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stoker-workspace-'))
  outside = mkdtempSync(join(tmpdir(), 'stoker-outside-'))
  workspaces = new Workspaces(root)
})
afterEach(() => {
  for (const folder of [root, outside]) rmSync(folder, { recursive: true })
})

function anOffer(job: number, command = 'x'): Offer {
  const parsed = parseJobSpec({ command })
  if (!parsed.ok) throw new Error('bad spec')
  return { fence: { job, epoch: 1, attempt: 1 }, id: 'x', spec: parsed.spec, gpus: [] }
}

describe('a workspace', () => {
  it('is private, has an empty work folder, and brings its offer back after a restart', async () => {
    const folder = workspaces.make(anOffer(1))
    expect(readdirSync(folder).sort()).toEqual(['offer.json', 'work'])
    expect(await new Workspaces(root).left()).toEqual([{ key: '1-1-1', offer: anOffer(1) }])
  })

  it('is used again when a program left nothing, and shows nothing of it', async () => {
    const first = workspaces.make(anOffer(1))
    writeFileSync(join(first, 'stdout'), 'words')
    await workspaces.remove(anOffer(1).fence)
    expect(existsSync(first)).toBe(false)
    const second = workspaces.make(anOffer(2))
    expect(readdirSync(root)).toEqual(['2-1-1'])
    expect(readdirSync(second).sort()).toEqual(['offer.json', 'stdout', 'work'])
    expect(readFileSync(join(second, 'stdout'), 'utf8')).toBe('')
    expect(readdirSync(join(second, 'work'))).toEqual([])
  })

  it('that is used again brings back its own offer, however long that of its predecessor was', async () => {
    const long = anOffer(1, 'x'.repeat(5000))
    workspaces.make(long)
    await workspaces.remove(long.fence)
    workspaces.make(anOffer(2))
    expect(await new Workspaces(root).left()).toEqual([{ key: '2-1-1', offer: anOffer(2) }])
  })

  it('that is used again does not take the end of its predecessor for its own', async () => {
    const first = workspaces.make(anOffer(1))
    writeFileSync(join(first, 'exit.json'), '{"key":"1-1-1","exitCode":0}\n')
    expect(await endedExecution(first, '1-1-1')).not.toBeNull()
    await workspaces.remove(anOffer(1).fence)
    expect(await endedExecution(workspaces.make(anOffer(2)), '2-1-1')).toBeNull()
  })

  it('that waited for use when its worker was killed is removed at the next start', async () => {
    workspaces.make(anOffer(1))
    await workspaces.remove(anOffer(1).fence)
    expect(readdirSync(root)).toHaveLength(1)
    expect(await new Workspaces(root).left()).toEqual([])
    expect(readdirSync(root)).toEqual([])
  })

  it.each([
    ['files', (work: string) => writeFileSync(join(work, 'x'), '')],
    ['folders', (work: string) => mkdirSync(join(work, 'd/e'), { recursive: true })],
    ['another name of its output', (work: string) => linkSync(join(work, '../stdout'), join(outside, 'link'))],
    ['outputs', (work: string) => writeFileSync(join(work, '../outputs.json'), '{}')],
    ['what was said before it started', (work: string) => writeFileSync(join(work, '../said'), '7')],
    ['what nobody knows', (work: string) => writeFileSync(join(work, '../stray'), '')],
    ['another mode', (work: string) => chmodSync(work, 0o777)],
  ])('is removed for good when a program left %s', async (_what, leave) => {
    const folder = workspaces.make(anOffer(1))
    writeFileSync(join(folder, 'stdout'), 'words')
    leave(join(folder, 'work'))
    await workspaces.remove(anOffer(1).fence)
    expect(readdirSync(root)).toEqual([])
  })

  it('of an unknown attempt is not looked for', async () => {
    await workspaces.remove(anOffer(9).fence)
    expect(readdirSync(root)).toEqual([])
  })
})

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Offer, parseJobSpec } from '@stoker/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Workspaces } from './workspace.ts'

let root: string
let workspaces: Workspaces
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stoker-workspace-'))
  workspaces = new Workspaces(root)
})
afterEach(() => rmSync(root, { recursive: true }))

function anOffer(job: number): Offer {
  const parsed = parseJobSpec({ command: 'x' })
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
    expect(readdirSync(second).sort()).toEqual(['offer.json', 'work'])
    expect(readdirSync(join(second, 'work'))).toEqual([])
  })

  it.each([
    ['files', (work: string) => writeFileSync(join(work, 'x'), '')],
    ['folders', (work: string) => mkdirSync(join(work, 'd/e'), { recursive: true })],
    ['another mode', (work: string) => chmodSync(work, 0o777)],
  ])('is removed for good when a program left %s', async (_what, leave) => {
    const folder = workspaces.make(anOffer(1))
    leave(join(folder, 'work'))
    await workspaces.remove(anOffer(1).fence)
    expect(readdirSync(root)).toEqual([])
  })

  it('of an unknown attempt is not looked for', async () => {
    await workspaces.remove(anOffer(9).fence)
    expect(readdirSync(root)).toEqual([])
  })
})

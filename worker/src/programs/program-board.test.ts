import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { A_PYTHON } from '../environments/test-environments.ts'
import { findPrograms } from './find-programs.ts'
import { type InstalledPackages, ProgramBoard } from './program-board.ts'
import { writeProgram } from './test-programs.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'stoker-programs-'))
})
afterEach(() => removeTree(root))

const ABLE = {
  ...{ executors: ['inline' as const, 'process' as const], sandbox: true, unsandboxed: false, internet: true },
  ...{ hostNetwork: false, note: null },
}

it('programs are found by their folders, and a wrong manifest is told', async () => {
  await writeProgram(root, 'fine-tuning', { main: '', requirements: 'Six # x\n' })
  await writeProgram(root, 'rag', { main: '' })
  await writeFile(join(root, 'rag', 'program.json'), '{"type": "other"}')
  const complaints: string[] = []
  const programs = await findPrograms(root, text => complaints.push(text))
  expect([...programs.values()]).toMatchObject([
    { type: 'fine-tuning', folder: join(root, 'fine_tuning'), requirements: 'six', manifest: { sessions: false } },
  ])
  expect(complaints).toEqual([`${root}/rag/program.json does not describe rag`])
})

it('what a worker can run is told anew when packages have come', async () => {
  await writeProgram(root, 'rag', { main: '', requirements: 'six\nidna' })
  const installed = new Set<string>()
  const packages: InstalledPackages = {
    has: ({ requirements }) => installed.has(requirements),
    failureOf: () => null,
    shelf: { list: async () => [...installed].map(requirementsHash => ({ requirementsHash })) },
  }
  let told = 0
  const board = new ProgramBoard({
    programs: await findPrograms(root, () => {}),
    ...{ packages, python: A_PYTHON, hardware: { gpus: [], memoryBytes: 8e9 }, folder: root, intervalMs: 1e6 },
    abilities: () => ABLE,
    means: async () => ({ isolation: 'none', network: 'host', env: {}, visiblePaths: [] }),
    changed: () => {
      told += 1
    },
  })
  await board.look()
  expect(board.latest).toMatchObject({ types: { rag: { state: 'installable' } }, environments: [] })
  installed.add('idna\nsix')
  await board.look()
  await board.look()
  expect(board.latest).toMatchObject({ types: { rag: { state: 'ready' } }, environments: ['idna\nsix'] })
  expect(told).toBe(2)
  await board.stop()
})

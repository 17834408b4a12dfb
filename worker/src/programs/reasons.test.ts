import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import type { Abilities, Gpu } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { programAbilities } from '../abilities.ts'
import { examineTypes } from '../doctor/types.ts'
import { buildMeans } from '../environments/build-means.ts'
import { A_PYTHON } from '../environments/test-environments.ts'
import { findPrograms } from './find-programs.ts'
import { ProgramBoard } from './program-board.ts'
import { writeProgram } from './test-programs.ts'

/** More than any machine has, and less than a number can hold. */
const ENDLESS_MB = 1e9

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'stoker-reasons-'))
  await writeProgram(root, 'compute', { main: '' })
  await writeProgram(root, 'rag', { main: '', requirements: 'six\nidna' })
  await writeProgram(root, 'stable_diffusion', { main: '', needs: { gpu: 'required' } })
  await writeProgram(root, 'sft', { main: '', needs: { minMemoryMb: ENDLESS_MB } })
  await writeProgram(root, 'dpo', { main: '', needs: { minDiskMb: ENDLESS_MB } })
})
afterEach(() => removeTree(root))

const SANDBOXED: Abilities = {
  ...{ executors: ['inline', 'process'], sandbox: true, unsandboxed: false, internet: true },
  ...{ hostNetwork: false, note: null },
}
const aGpu = (simulated: boolean): Gpu => ({
  ...{ uuid: 'GPU-a', index: 0, name: 'x', memoryMb: 24_000, driver: null, simulated },
})

/** What a worker with these abilities and devices announces, by type: its state alone, or with the reason. */
async function announced(abilities: Abilities, gpus: readonly Gpu[] = []): Promise<Record<string, string>> {
  const board = new ProgramBoard({
    programs: await findPrograms(root, () => {}),
    ...{ packages: null, python: A_PYTHON, folder: root, intervalMs: 1e6, changed: () => {} },
    hardware: { gpus: [...gpus], memoryBytes: 8e9 },
    abilities: () => abilities,
    means: () => buildMeans(abilities, {}),
  })
  await board.look()
  await board.stop()
  const types = Object.entries(board.latest.types)
  return Object.fromEntries(
    types.map(([type, { state, reason }]) => [type, [state, reason].filter(Boolean).join(': ')]),
  )
}

it('a worker says of each type whether it can run it, and what is missing where it cannot', async () => {
  expect(await announced(SANDBOXED)).toEqual({
    compute: 'ready',
    rag: 'installable: 2 packages are installed on first use',
    stable_diffusion: 'impossible: needs a GPU, this machine has none',
    sft: 'impossible: needs 1000 TB of memory, this machine has 8 GB',
    dpo: 'impossible: needs 1000 TB of disk, less is free',
  })
})

it('a GPU serves a type that needs one, a simulated one does not', async () => {
  expect((await announced(SANDBOXED, [aGpu(false)])).stable_diffusion).toBe('ready')
  expect((await announced(SANDBOXED, [aGpu(true)])).stable_diffusion).toMatch(/^impossible: needs a GPU/)
})

it('without a network for pip only what needs no packages runs', async () => {
  const types = await announced({ ...SANDBOXED, internet: false })
  expect(types).toMatchObject({ compute: 'ready', rag: expect.stringMatching(/^impossible: no network for pip/) })
})

it('without Python nothing runs, and each type says so', async () => {
  const abilities = await programAbilities({ allowUnsandboxed: true, allowHostNetwork: false }, null, () => {})
  const types = await announced(abilities)
  expect(new Set(Object.values(types))).toEqual(
    new Set(['impossible: no Python 3.10 or newer was found: inline types only']),
  )
})

it('the doctor shows the same for this machine, with what to do', async () => {
  const findings = await examineTypes(root, process.env, root)
  expect(findings.map(({ check, level, text }) => `${check} ${level} ${text.split(':')[0]}`)).toEqual([
    'type compute ok ready',
    'type dpo warn impossible',
    expect.stringMatching(/^type rag (ok installable|warn impossible)$/),
    'type sft ok impossible',
    expect.stringMatching(/^type stable_diffusion ok (impossible|ready)$/),
  ])
  expect(findings[1]).toMatchObject({ todo: expect.stringContaining('stoker env prune') })
})

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { processStart } from '@stoker/files'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ChildProgram } from './harness/child-program.ts'
import { bundles } from './harness/config.ts'
import { House } from './harness/house.ts'
import { becomes, ended, logOf } from './harness/jobs.ts'
import { processesWith } from './harness/processes.ts'
import { counted, counting, marksOf, openGate } from './harness/programs.ts'

let house: House
let ups: ChildProgram[]
beforeEach(async () => {
  house = await House.open()
  ups = []
})
afterEach(async () => {
  for (const up of ups.toReversed()) if (!up.isOver) await up.stop()
  await house.close()
})

async function up(): Promise<{ up: ChildProgram; ready: Readonly<Record<string, unknown>> }> {
  const args = ['up', '--json', '--port', String(house.port), '--name', 'box']
  const program = new ChildProgram({ script: join(bundles, 'stoker.js'), args, env: { STOKER_HOME: house.root } })
  ups.push(program)
  return { up: program, ready: await program.ready() }
}

const stoker = async (...args: readonly string[]) => {
  const script = join(bundles, 'stoker.js')
  const program = new ChildProgram({ script, args, env: { STOKER_HOME: house.root } })
  return { ...(await program.exited), stdout: program.stdout, stderr: program.stderr }
}
const daemons = async () =>
  (await processesWith(house.root)).filter(({ command }) => /(hub|worker)\.js/.test(command)).map(({ pid }) => pid)

it('hub and worker end when up is killed, the program goes on, and the next up finds it again', async () => {
  const first = await up()
  const token = (await readFile(String(first.ready.tokenFile), 'utf8')).trim()
  const client = house.clientOf(house.url, token)
  const job = await client.submit(counting(house, { mark: 1, lines: 3, gate: 'gate' }))
  await becomes(client, job.id, 'active')
  await vi.waitFor(async () => expect(await marksOf(house)).toEqual([1]), { timeout: 20_000 })
  expect(await daemons()).toHaveLength(2)
  await first.up.kill()
  await vi.waitFor(async () => expect(await daemons()).toEqual([]), { timeout: 20_000 })
  expect((await processesWith(house.root)).some(({ command }) => command.includes('keeper.py'))).toBe(true)
  await up()
  await openGate(house, 'gate')
  expect(await ended(client, job.id)).toMatchObject({ state: 'succeeded', attempts: 1 })
  expect(await logOf(client, job.id)).toBe(counted(3))
  expect(await marksOf(house)).toEqual([1])
})

it('worker --status tells pid, jobs and connection of a running worker, and that a stopped one is stopped', async () => {
  const { up: running } = await up()
  const status = async () => {
    const { code, stdout } = await stoker('worker', '--status', '--json')
    const mine = JSON.parse(stdout).workers.filter(({ folder }: { folder: string }) => folder.startsWith(house.root))
    return { code, mine }
  }
  const seen = await status()
  expect(seen).toMatchObject({ code: 0, mine: [{ name: 'box', state: 'connected', running: 0, hub: house.url }] })
  expect(await processStart(seen.mine[0].pid)).not.toBeNull()
  expect((await stoker('worker', '--status')).stdout).toMatch(/box +connected +\d+ +0\/\d+/)
  await running.stop()
  expect((await status()).mine).toMatchObject([{ state: 'stopped', pid: null }])
})

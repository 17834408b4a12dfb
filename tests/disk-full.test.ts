import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, statfs, writeFile } from 'node:fs/promises'
import { HubRefused } from '@stoker/client'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { aProgram, becomes, ended, logOf, run } from './harness/jobs.ts'
import { isGone } from './harness/left-over.ts'
import { counted, counting, openGate } from './harness/programs.ts'

const MB = 1024 * 1024
/** New work is refused below 256 MB; the rest is room to be above it. */
const DISK_MB = 420
const FILLING = 'filling-'

const cannotMount = process.getuid?.() === 0 ? null : 'mounting a small disk needs root'
if (cannotMount !== null) process.stdout.write(`disk-full is skipped: ${cannotMount}\n`)

let house: House

beforeEach(async () => {
  if (cannotMount !== null) return
  house = await House.open()
  await mkdir(house.path('hub'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m`, 'tmpfs', house.path('hub')])
})

afterEach(async () => {
  if (cannotMount !== null) return
  await house.endPrograms()
  try {
    await house.expectSound()
  } finally {
    execFileSync('umount', [house.path('hub')])
    await house.close()
  }
})

/** Leaves the hub's disk this many bytes, as someone else's files would. */
async function leaveFree(freeBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(house.path('hub'))
  for (let left = bavail * bsize - freeBytes; left > 0; left -= 16 * MB) {
    await writeFile(house.path('hub', `${FILLING}${randomUUID()}`), Buffer.alloc(Math.min(16 * MB, left)))
  }
}

async function giveBack(): Promise<void> {
  for (const name of await readdir(house.path('hub'))) if (name.startsWith(FILLING)) await rm(house.path('hub', name))
}

async function refusal(): Promise<HubRefused | null> {
  try {
    await house.client.submit({ type: 'echo' })
    return null
  } catch (error) {
    if (error instanceof HubRefused) return error
    throw error
  }
}

it.skipIf(cannotMount !== null)(
  'takes nothing new on a full disk, ends and cancels what runs, and recovers by itself',
  async () => {
    const hub = await house.startHub()
    const { client } = house
    const worker = await house.startWorker('w')
    const printing = await client.submit(counting(house, { mark: 0, lines: 2000, gate: 'after' }))
    const canceled = await client.submit(aProgram('exec sleep 600'))
    for (const { id } of [printing, canceled]) await becomes(client, id, 'running')

    await leaveFree(100 * MB)
    await expect.poll(refusal, { timeout: 5_000 }).not.toBeNull()
    expect((await refusal())?.problem).toMatchObject({ status: 507, code: 'disk.full' })
    expect((await refusal())?.message).toMatch(/^the disk of the hub has \S+ \S+ free, new work needs \S+ \S+$/)

    await leaveFree(0)
    await openGate(house, 'after')
    await client.cancel(canceled.id)
    expect(await ended(client, canceled.id)).toMatchObject({ state: 'canceled', attempts: 1 })
    expect(await ended(client, printing.id)).toMatchObject({ state: 'succeeded', attempts: 1 })
    expect(await logOf(client, printing.id)).toBe(counted(2000))
    expect((await refusal())?.problem.status).toBe(507)
    expect(await isGone(house.path('hub', 'reserve'))).toBe(true)

    await leaveFree(0)
    await worker.kill()
    const again = await house.launchWorker('w', { joins: false })
    await expect.poll(() => again.stderr, { timeout: 10_000 }).toContain('the disk of the hub is full')

    await giveBack()
    await again.ready()
    await expect.poll(refusal, { timeout: 5_000 }).toBeNull()
    expect(await run(client, { type: 'echo' })).toMatchObject({ state: 'succeeded' })
    expect(hub.isOver).toBe(false)
    expect(await hub.stop()).toEqual({ code: 0, signal: null })
    await house.startHub()
    expect(await run(client, aProgram('echo hello'))).toMatchObject({ state: 'succeeded' })
    expect(await logOf(client, printing.id)).toBe(counted(2000))
    expect(again.isOver).toBe(false)
  },
)

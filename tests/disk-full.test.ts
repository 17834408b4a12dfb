import { execFileSync } from 'node:child_process'
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { HubRefused } from '@stoker/client'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { aProgram, becomes, ended, logOf, run } from './harness/jobs.ts'
import { counted, counting, openGate } from './harness/programs.ts'

const MB = 1024 * 1024
/** New work is refused below 256 MB; the rest is room to be above it. */
const DISK_MB = 420

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
  execFileSync('umount', [house.path('hub')])
  await house.close()
})

/** Leaves the hub's disk this many bytes, as someone else's file would. */
async function leaveFree(freeBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(house.path('hub'))
  const size = Math.max(0, bavail * bsize - freeBytes)
  for (let at = 0, part = 0; at < size; part += 1) {
    const length = Math.min(16 * MB, size - at)
    await writeFile(house.path('hub', `filling-${freeBytes}-${part}`), Buffer.alloc(length))
    at += length
  }
}

async function giveBack(): Promise<void> {
  const parts = Array.from({ length: Math.ceil(DISK_MB / 16) }, (_, part) => part)
  const names = [100 * MB, 0].flatMap(free => parts.map(part => house.path('hub', `filling-${free}-${part}`)))
  for (const name of names) await rm(name, { force: true })
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

    await giveBack()
    await expect.poll(refusal, { timeout: 5_000 }).toBeNull()
    expect(await run(client, { type: 'echo' })).toMatchObject({ state: 'succeeded' })
    expect(hub.isOver).toBe(false)
    expect(await hub.stop()).toEqual({ code: 0, signal: null })
    await house.startHub()
    expect(await run(client, aProgram('echo hello'))).toMatchObject({ state: 'succeeded' })
    expect(await logOf(client, printing.id)).toBe(counted(2000))
    expect(worker.isOver).toBe(false)
  },
)

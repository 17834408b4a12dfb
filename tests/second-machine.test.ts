import { readlinkSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ChildProgram } from './harness/child-program.ts'
import { House } from './harness/house.ts'
import { aProgram, becomes, ended, logOf, run } from './harness/jobs.ts'
import { JoinedMachine } from './harness/joined-machine.ts'
import { type Cable, type Inside, listeningPorts, TestNetwork } from './harness/network.ts'
import { counted, counting, marksOf, openGate, upTo } from './harness/programs.ts'

const HARNESS = new URL('./harness/', import.meta.url).pathname
const why = TestNetwork.whyNot()
if (why !== null) process.stdout.write(`skipped: no second machine, ${why}\n`)

describe.skipIf(why !== null)('a second machine', () => {
  let house: House
  let network: TestNetwork
  let hub: ChildProgram

  beforeEach(async () => {
    network = new TestNetwork()
    house = await House.open()
    hub = await house.startHub()
  })

  afterEach(async () => {
    await house.close()
    network.close()
  })

  const openOn = (address: string) => house.client.openListener(`https://${address}:0`)

  async function lineFor(address: string, ...more: string[]): Promise<string> {
    const printed = await house.stoker(['join', '--yes', '--listen', `https://${address}:0`, '--json', ...more])
    return JSON.parse(printed.stdout).line
  }

  async function connected(name: string): Promise<void> {
    const state = async () => (await house.client.workers()).find(worker => worker.name === name)?.state
    await expect.poll(state, { timeout: 30_000, interval: 50 }).toBe('ready')
  }

  it('joins by the pasted line, runs jobs, and goes on with them when its cable was out for longer than a lease', async () => {
    const there = network.machine('b')
    const cable = network.cable([], there)
    const machine = new JoinedMachine(house, 'b', there)
    const line = await lineFor(cable.here)
    const pasted = machine.paste(line, ['--name', 'b', '--allow-unsandboxed'])
    await connected('b')
    const pid = (await machine.workerPid()) ?? 0
    const job = await run(house.client, aProgram('readlink /proc/self/ns/net'))
    expect(await logOf(house.client, job.id)).toBe(`${readlinkSync(`/proc/${pid}/ns/net`)}\n`)
    expect(readlinkSync(`/proc/${pid}/ns/net`)).not.toBe(readlinkSync('/proc/self/ns/net'))
    expect(await listeningPorts(pid)).toEqual([])

    const { id } = await house.client.submit(counting(house, { mark: 0, lines: 300, pauseMs: 50, gate: 'after' }))
    await becomes(house.client, id, 'running')
    cable.unplug()
    const losses = async () => (await house.client.job(id)).lost
    await expect.poll(losses, { timeout: 60_000, interval: 100 }).toBe(1).finally(cable.plug)
    await openGate(house, 'after')
    expect(await ended(house.client, id)).toMatchObject({ state: 'succeeded', attempts: 1 })
    expect(await logOf(house.client, id)).toBe(counted(300))
    expect(await marksOf(house)).toEqual([0])

    await machine.stop(pasted)
    const again = machine.paste(line, ['--name', 'b', '--allow-unsandboxed'])
    await connected('b')
    expect(await house.client.workers()).toHaveLength(1)
    const thief = new JoinedMachine(house, 'thief', there).paste(line)
    expect(await thief.exited).toMatchObject({ code: 1 })
    expect(thief.stderr).toContain('each machine needs its own')
    await machine.stop(again)
  })

  it('gives its token to nobody but the hub whose key is in the line', async () => {
    const there = network.machine('b')
    const cable = network.cable([], there)
    const line = await lineFor(cable.here)
    const wrong = line.replace(/sha256\/\/.{43}=/, `sha256//${'A'.repeat(43)}=`)
    const machine = new JoinedMachine(house, 'b', there)
    const refused = machine.paste(wrong)
    await refused.exited
    expect(refused.stderr).toMatch(/pinned public key|pinnedpubkey/)
    await expect(readdir(machine.home)).rejects.toThrow('ENOENT')
    const { url } = await openOn(cable.here)
    const pin = `sha256/${'A'.repeat(43)}=`
    const args = ['--hub', url, '--pin', pin, '--data', house.path('w'), '--join', 'stk_secret']
    const worker = house.workerProgram(args, { inside: there })
    await expect.poll(() => worker.stderr, { timeout: 10_000, interval: 20 }).toContain(`pinned is ${pin}`)
    expect(worker.stderr).toMatch(/has the key sha256\//)
    expect(worker.stdout).toBe('')
    expect(await house.client.workers()).toEqual([])
  })

  it('joins although the hub is killed meanwhile', async () => {
    const there = network.machine('b')
    const cable = network.cable([], there)
    const line = await lineFor(cable.here)
    const machine = new JoinedMachine(house, 'b', there)
    const pasted = machine.paste(line, ['--name', 'b', '--allow-unsandboxed'])
    await expect.poll(() => machine.workerPid(), { timeout: 20_000, interval: 5 }).not.toBeNull()
    await hub.kill()
    hub = await house.startHub()
    await connected('b')
    expect(await run(house.client, aProgram('echo hello'))).toMatchObject({ state: 'succeeded' })
    const [token] = (await house.client.tokens()).filter(one => one.role === 'join')
    expect(token?.usedBy).toBe((await house.client.workers())[0]?.id)
    await machine.stop(pasted)
  })

  /** The worker's machine knows only the one in the middle, and nobody knows the worker's. */
  function behindAnother(): { middle: Inside; there: Inside; up: Cable; down: Cable } {
    const [middle, there] = [network.machine('m'), network.machine('b')]
    return { middle, there, up: network.cable([], middle), down: network.cable(middle, there) }
  }

  async function startBehind(there: Inside, hubUrl: string, pin: string | null, ...more: string[]) {
    return house.startWorker('w', { hubUrl, inside: there, args: ['--pin', pin ?? '', '--max-jobs', '4', ...more] })
  }

  it('reaches the hub through a proxy, with its worker and its command line', async () => {
    const { middle, there, up, down } = behindAnother()
    const { url, pin } = await openOn(up.here)
    const proxy = house.program({
      script: `${HARNESS}connect-proxy.mjs`,
      args: [down.here, house.root],
      inside: middle,
    })
    const { port } = await proxy.ready()
    const way = `http://${down.here}:${port}`
    await startBehind(there, url, pin, '--proxy', way)
    expect(await run(house.client, aProgram('echo hello'))).toMatchObject({ state: 'succeeded', worker: { name: 'w' } })
    const env = { STOKER_URL: url, STOKER_PIN: pin ?? '', HTTPS_PROXY: way, NO_PROXY: '' }
    const listed = await house.stoker(['list', '--json'], { inside: there, env })
    expect(JSON.parse(listed.stdout).jobs).toHaveLength(1)
    expect(new Set(proxy.stderr.trim().split('\n'))).toEqual(new Set([`CONNECT ${url.slice('https://'.length)}`]))
    const straight = await house.stoker(['list'], { inside: there, env: { ...env, HTTPS_PROXY: '' } })
    expect((await straight.exited).code).toBe(8)
  })

  it('loses no line over a slow and lossy way', async () => {
    const { middle, there, up, down } = behindAnother()
    const { name, pin } = await openOn(up.here)
    const faults = { delayMs: 200, stall: 0.05, stallMs: 600, cut: 0.002 }
    const hasNetem = down.worsen()
    if (!hasNetem) process.stdout.write('this kernel has no netem: the way is bad by a relay in user space\n')
    await writeFile(house.path('faults.json'), JSON.stringify(hasNetem ? {} : faults))
    const args = [`${down.here}:7443`, name, house.path('faults.json')]
    await house.program({ script: `${HARNESS}relay.mjs`, args, inside: middle }).ready()
    await startBehind(there, `https://${down.here}:7443`, pin)
    const specs = upTo(8).map(mark => counting(house, { mark, lines: 2_000 }))
    for (const { id } of await house.client.submitMany(specs)) {
      expect(await ended(house.client, id)).toMatchObject({ state: 'succeeded', attempts: 1 })
      expect(await logOf(house.client, id)).toBe(counted(2_000))
    }
    expect(await marksOf(house)).toEqual(upTo(8))
  })
})

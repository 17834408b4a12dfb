import { writeFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ChildProgram } from './harness/child-program.ts'
import { givenSeed, isLongSoak } from './harness/config.ts'
import { House } from './harness/house.ts'
import { ended, logOf } from './harness/jobs.ts'
import { type Cable, type Inside, TestNetwork } from './harness/network.ts'
import { counted, counting, marksOf, upTo } from './harness/programs.ts'
import { printedSeed, seeded } from './harness/seeded.ts'

const SOAK_MS = isLongSoak ? 300_000 : 25_000
const RELAY = new URL('./harness/relay.mjs', import.meta.url).pathname
const LINES = 60
/** Of what a process said last. */
const TAIL = 3000
const why = TestNetwork.whyNot()
if (why !== null) process.stdout.write(`skipped: no bad network, ${why}\n`)

describe.skipIf(why !== null)('under mixed faults', () => {
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

  interface Machine {
    readonly name: string
    readonly inside: Inside
    readonly cable: Cable
    readonly args: readonly string[]
    readonly hubUrl: string
    worker: ChildProgram
  }

  /** A worker on a machine of its own, behind a relay on another one. */
  async function addMachine(number: number): Promise<Machine> {
    const [middle, inside] = [network.machine(`m${number}`), network.machine(`w${number}`)]
    const [up, cable] = [network.cable([], middle), network.cable(middle, inside)]
    const { name: target, pin } = await house.client.openListener(`https://${up.here}:0`)
    const args = [`${cable.here}:7443`, target, house.path('faults.json')]
    await house.program({ script: RELAY, args, inside: middle }).ready()
    const hubUrl = `https://${cable.here}:7443`
    const start = { name: `w${number}`, inside, cable, hubUrl, args: ['--pin', pin ?? '', '--max-jobs', '4'] }
    return { ...start, worker: await house.startWorker(start.name, start) }
  }

  const faultsAre = (faults: object) => writeFile(house.path('faults.json'), JSON.stringify(faults))

  /** What a run that did not end was waiting for. */
  async function told(machines: readonly Machine[], round: string): Promise<string> {
    const { jobs } = await house.client.jobs({ state: ['queued', 'waiting', 'active'] })
    const [first] = jobs
    const why = first === undefined ? null : [await house.client.job(first.id), await house.client.explain(first.id)]
    const words = [hub, ...machines.map(({ worker }) => worker)].map(({ stderr }) => stderr.slice(-TAIL))
    const state = { round, open: jobs.map(({ id }) => id), why, workers: await house.client.workers() }
    return [JSON.stringify(state), ...words].join('\n--\n')
  }

  it('every job ends once, with every line it wrote', { timeout: SOAK_MS + 180_000 }, async () => {
    const random = seeded(printedSeed(givenSeed))
    await faultsAre({ delayMs: 20 })
    const machines = [await addMachine(1), await addMachine(2)]
    let at = 'faults'
    const late = setTimeout(async () => {
      const text = await told(machines, at).catch(error => `at ${at} the hub is away: ${error}\n${hub.stderr}`)
      process.stdout.write(`${text}\n`)
    }, SOAK_MS + 120_000)
    onTestFinished(() => clearTimeout(late))
    const faults: readonly (() => Promise<void>)[] = [
      () => faultsAre({ delayMs: 20 + 180 * random(), stall: 0.05, stallMs: 500, cut: 0.01 * random() }),
      async () => {
        const { cable } = machines[random() < 0.5 ? 0 : 1] ?? { cable: null }
        cable?.unplug()
        await pause(1_000 + 7_000 * random())
        cable?.plug()
      },
      async () => {
        await hub.kill()
        await pause(2_000 * random())
        hub = await house.startHub()
      },
      async () => {
        const machine = machines[random() < 0.5 ? 0 : 1]
        if (machine === undefined) return
        await machine.worker.kill()
        machine.worker = await house.launchWorker(machine.name, { ...machine, joins: false })
      },
    ]
    const ids: string[] = []
    const until = performance.now() + SOAK_MS
    for (let round = 0; performance.now() < until; round += 1) {
      const specs = upTo(4).map(i => counting(house, { mark: round * 4 + i, lines: LINES, pauseMs: 20 }))
      at = `submit of round ${round}`
      ids.push(...(await house.client.submitMany(specs)).map(({ id }) => id))
      at = `fault of round ${round}`
      await faults[round % faults.length]?.()
    }
    await faultsAre({})
    for (const id of ids) {
      at = `end of ${id}`
      expect(await ended(house.client, id)).toMatchObject({ state: 'succeeded', exitCode: 0 })
      expect(await logOf(house.client, id)).toBe(counted(LINES))
    }
    expect(new Set(await marksOf(house))).toEqual(new Set(upTo(ids.length)))
    process.stdout.write(`${ids.length} jobs in ${SOAK_MS / 1000} s of faults\n`)
  })
})

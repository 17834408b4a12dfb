import type { NewJob } from '../../hub/src/engine/commands.ts'
import type { State } from '../../hub/src/engine/state.ts'
import { neverRefusals } from '../../hub/src/scheduler/fit.ts'
import { packed } from '../../hub/src/scheduler/packed.ts'
import { refusalsNow } from '../../hub/src/scheduler/refusals-now.ts'
import { spread } from '../../hub/src/scheduler/spread.ts'
import { Ghost } from './check/ghost.ts'
import { type GuessFigures, StartGuesses } from './check/start-guesses.ts'
import { type RunFigures, Stats } from './check/stats.ts'
import { Client } from './client.ts'
import { Disturbance } from './disturbance.ts'
import type { FaultPlan } from './faults.ts'
import { HouseRules } from './house-rules.ts'
import { WALL_START_MS } from './hub/sim-clock.ts'
import { SimHub } from './hub/sim-hub.ts'
import { linkBatch } from './links.ts'
import { Network } from './network.ts'
import { forgetful, ignoreFence, meetEarly, type Plant, renumber } from './plants.ts'
import { SessionTraffic } from './session-traffic.ts'
import { type DeviceUse, Machine } from './worker/machine.ts'
import { SimWorker } from './worker/sim-worker.ts'
import { type FleetMember, kindJob, makeFleet, makeJob, plainJob } from './workload.ts'
import { Random } from './world/random.ts'
import { Timeline } from './world/timeline.ts'

/** Longer than every lease, backoff and retry together: where nothing comes to its end for so long, nothing ever will. */
const PATIENCE_MS = 90 * 60_000

export interface SimOptions {
  readonly seed: number
  readonly workers: number
  readonly jobs: number
  readonly maxGpus: number
  readonly plan: FaultPlan
  /** How long things go wrong and jobs come in, in virtual time. */
  readonly faultMs: number
  /** The same small job over and over, submitted in large batches. */
  readonly isPlain: boolean
  readonly isEncoded: boolean
  /** A schedule adds jobs of its own. */
  readonly hasSchedule: boolean
  /** Sessions come and go, and take tasks. */
  readonly hasSessions: boolean
  readonly plant: Plant | null
  /** Jobs of a few kinds; every second someone asks when one of them will start. */
  readonly asksWhen?: boolean | undefined
}

export interface SimResult {
  readonly violations: readonly string[]
  readonly journalHash: string
  readonly commits: number
  readonly steps: number
  readonly virtualMs: number
  readonly figures: RunFigures
  readonly guesses: GuessFigures | null
}

/** One run from its seed to the silence after it. */
export function runSim(options: SimOptions): SimResult {
  const random = new Random(options.seed)
  const timeline = new Timeline()
  const fleet = makeFleet(random.fork(), options.workers, options.maxGpus)
  const world = buildWorld(options, fleet, timeline, random)
  const { hub, workers, client, disturbance, ghost, stats, guesses } = world
  hub.start()
  for (const worker of workers) world.join(worker)
  submitAll(options, client, fleet, timeline, random.fork())
  disturbance.start()
  const rules = houseRules(options, hub, timeline, random.fork())
  if (!options.isPlain) rules.start()
  const sessions = sessionTraffic(options, hub, timeline, random.fork())
  const hasSessions = options.hasSessions && !options.isPlain
  if (hasSessions) sessions.start()
  timeline.in(options.faultMs, () => disturbance.heal())
  let isQuiet = false
  const look = () => {
    isQuiet =
      disturbance.isOver &&
      client.isDone &&
      (options.isPlain || rules.isDone) &&
      (!hasSessions || sessions.isDone) &&
      hub.isIdle &&
      isOver(hub.state) &&
      workers.every(w => w.isIdle)
    if (disturbance.isOver) client.releaseAll()
    if (guesses !== null && hub.state !== null && hub.now !== null) guesses.ask(hub.state, hub.now)
    if (!isQuiet) timeline.in(1000, look)
  }
  timeline.in(637, look)
  const isHopeful = () => timeline.now < Math.max(options.faultMs, stats.lastDoneAt) + PATIENCE_MS
  while (!isQuiet && isHopeful() && ghost.isClean) timeline.step()
  if (!isQuiet && ghost.isClean) ghost.complain('c', whatIsLeft(world))
  if (isQuiet && hub.state !== null) ghost.finish(hub.state)
  const end = hub.tables.journalEnd()
  return {
    violations: ghost.violations,
    journalHash: end.hash,
    commits: end.n,
    steps: timeline.steps,
    virtualMs: timeline.now,
    figures: stats.figures(fleet.reduce((sum, { introduction }) => sum + introduction.maxJobs, 0)),
    guesses: guesses?.figures ?? null,
  }
}

interface World {
  readonly hub: SimHub
  readonly workers: readonly SimWorker[]
  readonly client: Client
  readonly disturbance: Disturbance
  readonly ghost: Ghost
  readonly stats: Stats
  readonly guesses: StartGuesses | null
  /** Gives a worker a new join token and starts it. */
  readonly join: (worker: SimWorker) => void
}

function buildWorld(options: SimOptions, fleet: readonly FleetMember[], timeline: Timeline, random: Random): World {
  const { plan, plant, isEncoded } = options
  const stats = new Stats()
  const specs = new Map<number, NewJob>()
  const crashes = random.fork()
  const policy = plant === 'double-placement' ? forgetful : options.seed % 3 === 0 ? spread : packed
  const guesses = options.asksWhen === true ? new StartGuesses(policy, new Random(options.seed)) : null
  const isFaulty = (): boolean => plan.isSlow && !disturbance.isOver
  const hub: SimHub = new SimHub({
    timeline,
    random: random.fork(),
    policy,
    specs: isEncoded ? null : specs,
    diesAt: () => {
      const dies = isFaulty() && crashes.chance(plan.crashPoint)
      if (dies) disturbance.crashHub()
      return dies
    },
    durable: batch => {
      ghost.durable(batch)
      stats.take(batch, timeline.now)
      guesses?.take(batch)
      if (isEncoded) return
      for (const [seq, job] of batch.submissions) specs.set(seq, job)
    },
    recovered: state => ghost.recovered(state),
    isSlow: isFaulty,
    publishesFirst: plant === 'publish-before-append',
    answersFirst: plant === 'ack-before-sync',
    tamper: plant === 'fence-off' ? ignoreFence : plant === 'met-early' ? meetEarly : null,
  })
  const ghost = new Ghost(hub.tables, hub.segments)
  const network = new Network({
    ...{ timeline, random: random.fork(), hub, isEncoded, isFaulty },
    hubSays: (worker, message) => ghost.hubSays(worker, message),
    joinHash: worker => `join ${joins.get(worker) ?? 0} of ${worker}`,
  })
  const joins = new Map<string, number>()
  const join = (worker: SimWorker): void => {
    joins.set(worker.id, (joins.get(worker.id) ?? 0) + 1)
    giveToken(worker, `join ${joins.get(worker.id)} of ${worker.id}`)
  }
  const giveToken = (worker: SimWorker, hash: string): void => {
    const token = { id: hash, hash, label: '', expiresAt: null }
    const again = { isNeeded: true }
    const done = () => {
      again.isNeeded = false
      if (!worker.isUp) worker.start()
    }
    hub.execute({ kind: 'addToken', role: 'join', owner: 'anna', ...token }, done, ignore)
    timeline.in(5_000, () => {
      if (again.isNeeded) giveToken(worker, hash)
    })
  }
  const skews = new Map<string, number>()
  const devices = fleet.map((): DeviceUse => new Map())
  const workers = fleet.map(({ introduction, host }) => {
    const { workerId } = introduction
    const wall = () => Math.floor(WALL_START_MS + timeline.now + (skews.get(workerId) ?? 0))
    const machine = new Machine({
      ...{ timeline, random: random.fork(), wall, devices: devices[host] ?? new Map() },
      conflict: (uuid, holder, taker) => {
        if (plan.everyMs.remove === null)
          ghost.complain('d', `attempt ${taker} starts on ${uuid}, where attempt ${holder} still runs`)
      },
    })
    const worker: SimWorker = new SimWorker({
      ...{ timeline, random: random.fork(), machine, introduction, wall },
      dial: network.dial(workerId),
      forgets: batches => ghost.workerForgets(batches),
      resend: plant === 'resend-renumbered' ? renumber : null,
      refused: () => timeline.in(1_000, () => join(worker)),
      declines: plan.declined,
      setUpMs: plan.isSlow ? 100 : 0,
    })
    return worker
  })
  const client: Client = new Client({
    ...{ timeline, random: random.fork(), hub, groupShare: isSudden(options) ? 0 : 0.5 },
    lostReply: () => (disturbance.isOver ? 0 : plan.lostReply),
    patienceMs: () => (isFaulty() ? crashes.pick([5, 20, 500, 5_000]) : 30_000),
    answered: (key, reply) => ghost.submitAnswered(key, reply),
  })
  const disturbance: Disturbance = new Disturbance({
    ...{ timeline, random: random.fork(), plan, hub, workers, network, client },
    setWorkerSkew: (worker, skewMs) => skews.set(worker.id, skewMs),
  })
  return { hub, workers, client, disturbance, ghost, stats, guesses, join }
}

/** Everything comes at once, in large lists of jobs alike. */
function isSudden({ isPlain, asksWhen = false }: SimOptions): boolean {
  return isPlain && !asksWhen
}

function submitAll(
  options: SimOptions,
  client: Client,
  fleet: readonly FleetMember[],
  timeline: Timeline,
  random: Random,
): void {
  const { jobs, faultMs, isPlain, asksWhen = false } = options
  const jobOf = () => (asksWhen ? kindJob(random) : isPlain ? plainJob(random) : makeJob(random, fleet))
  let left = jobs
  while (left > 0) {
    const count = Math.min(left, isSudden(options) ? 500 : random.between(1, 6))
    left -= count
    const specs = Array.from({ length: count }, () => jobOf())
    const batch = isPlain ? specs : linkBatch(random, specs)
    timeline.in(isSudden(options) ? 0 : random.next() * faultMs * 0.8, () => client.submit(batch))
  }
}

function houseRules(
  { maxGpus, faultMs, hasSchedule }: SimOptions,
  hub: SimHub,
  timeline: Timeline,
  random: Random,
): HouseRules {
  return new HouseRules({
    ...{ timeline, random, hub, maxGpus, hasSchedule, endMs: faultMs * 0.8 },
    job: () => plainJob(random),
  })
}

function sessionTraffic(
  { maxGpus, faultMs }: SimOptions,
  hub: SimHub,
  timeline: Timeline,
  random: Random,
): SessionTraffic {
  return new SessionTraffic({ timeline, random, hub, hasGpus: maxGpus > 0, endMs: faultMs * 0.8 })
}

function isOver(state: State | null): boolean {
  if (state === null || state.queued.size + state.waiting.size + state.active.size > 0) return false
  for (const { lost } of state.workers.values()) if (lost.size > 0) return false
  return true
}

/** After everything was mended something still hangs: what the hub and each worker say about it. */
function whatIsLeft({ hub, workers, client }: World): string {
  const { state } = hub
  const stuck = state === null ? [] : whyStuck(state)
  const told = workers
    .filter(worker => !worker.isIdle || worker.refusal !== null)
    .map(({ id, isOpen, refusal }) => `${id} ${refusal ?? (isOpen ? 'is connected and busy' : 'is not connected')}`)
  const claims = [...(state?.workers.values() ?? [])].flatMap(({ id, lost, draining }) => [
    ...[...lost.keys()].map(key => `${id} has the lost attempt ${key}`),
    ...(draining ? [`${id} is draining`] : []),
  ])
  const jobs =
    state === null
      ? 'no hub'
      : `${state.queued.size} queued, ${state.waiting.size} waiting, ${state.active.size} active (${[...state.active.keys()].slice(0, 3).join(', ')})`
  return `all was mended, but the run does not end: ${jobs}; ${[...claims, ...told, ...stuck].join('; ')}${client.isDone ? '' : '; a submit has no answer'}`
}

/** Why the oldest queued job of each bucket does not start, worker by worker. */
function whyStuck(state: State): string[] {
  const now = { wall: Number.MAX_SAFE_INTEGER, lease: 0 }
  return [...state.queued.buckets()].flatMap(id => {
    const bucket = state.buckets.get(id)
    if (bucket === undefined) return []
    return [...state.workers.values()].map(worker => {
      const never = neverRefusals(bucket.shape, worker)
      const refusals = never.length > 0 ? never : refusalsNow(state, bucket, now)(worker)
      return `job ${state.queued.oldest(id)} on ${worker.id}: ${refusals.map(({ text }) => text).join(', ') || 'fits'}`
    })
  })
}

function ignore(): void {}

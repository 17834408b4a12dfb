import type { Abilities, Gpu, Hardware, JobSpec } from '@stoker/protocol'
import type { Introduction } from '../../worker/src/session/session-words.ts'
import type { Random } from './world/random.ts'

const GB = 1_000_000_000
const MIB = 2 ** 20
const TAGS = ['fast', 'home'] as const
const ABILITIES: Abilities = {
  executors: ['inline', 'process'],
  sandbox: true,
  unsandboxed: true,
  internet: true,
  hostNetwork: true,
  note: null,
}

/** A worker as it introduces itself, and the host whose devices it may share with another. */
export interface FleetMember {
  readonly introduction: Omit<Introduction, 'bootId'>
  readonly host: number
}

/** Machines of different sizes; now and then two workers share one host and its devices. */
export function makeFleet(random: Random, count: number, maxGpus: number): FleetMember[] {
  const fleet: FleetMember[] = []
  for (let index = 0; index < count; index += 1) {
    const before = fleet.at(-1)
    const shares = before !== undefined && before.introduction.hardware.gpus.length > 0 && random.chance(0.25)
    const host = shares ? before.host : index
    const gpus = shares ? before.introduction.hardware.gpus : makeGpus(host, random.between(0, maxGpus))
    fleet.push({ host, introduction: introduce(random, index, gpus) })
  }
  return fleet
}

function makeGpus(host: number, count: number): Gpu[] {
  return Array.from({ length: count }, (_, index) => ({
    index,
    uuid: `GPU-${host}-${index}`,
    name: index % 2 === 0 ? 'NVIDIA A' : 'NVIDIA B',
    memoryMb: index % 2 === 0 ? 24_000 : 12_000,
    driver: null,
    simulated: true,
  }))
}

function introduce(random: Random, index: number, gpus: readonly Gpu[]): Omit<Introduction, 'bootId'> {
  const cpus = random.between(2, 16)
  const memoryBytes = random.between(8, 64) * GB
  const hardware: Hardware = {
    cpuModel: 'simulated',
    cores: cpus,
    memoryBytes,
    disk: { freeBytes: GB, totalBytes: GB },
    hostname: `host-${index}`,
    os: 'linux',
    arch: 'x64',
    pythons: [],
    gpus: [...gpus],
    gpuNote: null,
  }
  return {
    version: 'sim',
    workerId: `worker-${index}`,
    name: `worker-${index}`,
    tags: TAGS.filter(() => random.chance(0.5)),
    maxJobs: random.between(2, 8),
    cpus,
    memoryBytes,
    window: random.between(2, 4),
    hardware,
    abilities: ABILITIES,
  }
}

export const PLAIN: JobSpec = {
  name: 'job',
  type: 'noop',
  command: null,
  input: { runMs: 0 },
  env: {},
  isolation: 'auto',
  network: null,
  resources: {
    gpus: 0,
    gpuMemoryBytes: null,
    gpuModel: null,
    gpuSharing: 'exclusive',
    cpus: 1,
    memoryBytes: null,
    diskBytes: null,
  },
  placement: { worker: null, exclude: [], tags: [], avoidTags: [], preferTags: [], unverified: false },
  priority: 0,
  timeoutMs: null,
  lostAfterMs: null,
  retries: { max: 0, on: ['failed'], initialMs: 1000, maxMs: 60_000 },
  labels: {},
  outputLimitBytes: 2 ** 30,
  files: [],
  outputs: [],
  dependsOn: [],
  hold: false,
  secrets: [],
  container: null,
  model: null,
  preset: null,
  session: null,
  task: null,
  environment: null,
  ranks: null,
}

/** The same small job over and over, for measuring. */
export function plainJob(random: Random): JobSpec {
  return random.chance(0.5) ? PLAIN : LONGER
}
const LONGER: JobSpec = { ...PLAIN, input: { runMs: 1000 } }

/** A few kinds of jobs, each with run times of its own: what a queue looks like that one can learn from. */
export function kindJob(random: Random): JobSpec {
  const kind = random.pick(KINDS)
  const runMs = Math.round(kind.meanMs * random.pick([0.5, 0.8, 1, 1, 1.2, 2]))
  return { ...PLAIN, input: { runMs }, resources: { ...PLAIN.resources, cpus: kind.cpus }, timeoutMs: null }
}
const KINDS = [
  { cpus: 1, meanMs: 2_000 },
  { cpus: 2, meanMs: 9_000 },
  { cpus: 0.5, meanMs: 600 },
] as const

/** A job that some worker of the fleet could run: its wishes are cut from one worker's cloth. */
export function makeJob(random: Random, fleet: readonly FleetMember[]): JobSpec {
  const { introduction } = random.pick(fleet)
  const isProgram = random.chance(0.7)
  const gpus = random.chance(0.4) ? random.int(introduction.hardware.gpus.length + 1) : 0
  const runMs = random.pick([0, 10, 200, 1_000, 4_000, 15_000, 30_000])
  const failures = random.chance(0.15) ? random.between(1, 3) : 0
  return {
    ...PLAIN,
    type: isProgram ? 'command' : 'noop',
    command: isProgram ? 'simulated' : null,
    input: { runMs, failures, outBytes: isProgram ? random.pick([0, 0, 100, 3_000, 200_000]) : 0 },
    resources: {
      gpus,
      ...deviceWish(random, gpus),
      gpuModel: null,
      cpus: random.pick([0, 1, 1, introduction.cpus]),
      memoryBytes: random.chance(0.3) ? introduction.memoryBytes / random.between(1, 4) : null,
      diskBytes: null,
    },
    placement: {
      worker: random.chance(0.05) ? introduction.workerId : null,
      exclude: random.chance(0.05)
        ? [random.pick(fleet).introduction.name].filter(name => name !== introduction.name)
        : [],
      tags: random.chance(0.2) ? [...introduction.tags] : [],
      avoidTags: random.chance(0.1) ? TAGS.filter(tag => !introduction.tags.includes(tag)) : [],
      preferTags: random.chance(0.2) ? [random.pick(TAGS)] : [],
      unverified: false,
    },
    priority: random.pick([0, 0, 0, 10, -5]),
    timeoutMs: isProgram && random.chance(0.1) ? 3_000 : null,
    lostAfterMs: random.chance(0.1) ? random.between(2, 30) * 1000 : null,
    retries: { ...PLAIN.retries, max: random.int(4), on: random.chance(0.3) ? ['failed', 'timed_out'] : ['failed'] },
  }
}

/** Half of the jobs with devices take a part of each; every device has as much as the smallest kind. */
function deviceWish(random: Random, gpus: number): Pick<JobSpec['resources'], 'gpuMemoryBytes' | 'gpuSharing'> {
  if (gpus === 0 || random.chance(0.5)) return { gpuMemoryBytes: null, gpuSharing: 'exclusive' }
  return { gpuMemoryBytes: random.pick([1_000, 4_000, 7_000, 12_000]) * MIB, gpuSharing: 'shared' }
}

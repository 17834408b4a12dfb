import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cleanups } from './cleanups.ts'
import type { BenchOptions, MeasureName } from './config.ts'
import type { Findings } from './goals/goals.ts'
import { describeMachine } from './machine/describe.ts'
import { disturbances } from './machine/disturbance.ts'
import { MachineWatch } from './machine/watch.ts'
import { ALL_MEASURES } from './measures/all.ts'
import { type Ground, Stage } from './measures/ground.ts'
import { linesOf } from './report/lines.ts'
import type { Summary } from './report/summary.ts'
import { startPostgres } from './servers/postgres.ts'
import { startRedis } from './servers/redis.ts'
import { bestOf, repeats, takeAll } from './takes.ts'

const QUIET_MS = 1000
const PROFILED = 'Hub and worker were profiled: their figures are too low.'

export interface BenchPorts {
  readonly cleanups: Cleanups
  readonly say: (text: string) => void
}

/** Everything in its order: the machine, the peers, one measure after the other, each under watch. */
export async function runBench(options: BenchOptions, { cleanups, say }: BenchPorts): Promise<Summary> {
  const startedAt = performance.now()
  const machine = await describeMachine(options.path, { withOthers: !options.isShort })
  const scratch = await mkdtemp(join(tmpdir(), 'sb-'))
  cleanups.add(() => rm(scratch, { recursive: true, force: true }))
  await chmod(scratch, 0o711)
  const watch = new MachineWatch(scratch)
  const silence = await watch.during('the silence before', () => sleep(QUIET_MS))
  const ground = await layGround(options, scratch, { cleanups, say })
  const takes = await takeAll(options.only, {
    take: async name => {
      say(`measuring ${name} …`)
      const { found, stretch } = await watch.during(name, () => measure(name, ground, cleanups))
      return { findings: found, stretch }
    },
    calm: () => watch.calm(),
    now: () => performance.now(),
    repeatMs: options.repeatMs,
  })
  const counted = Array.from(takes.values(), bestOf)
  return {
    at: new Date().toISOString(),
    seconds: (performance.now() - startedAt) / 1000,
    machine,
    fsync: watch.bestFsync,
    disturbances: disturbances([silence.stretch, ...counted.map(({ stretch }) => stretch)]),
    stretches: watch.stretches,
    notes: [...(options.profileFolder === null ? [] : [PROFILED]), ...repeats(takes)],
    lines: linesOf(Object.assign({}, ...counted.map(({ findings }) => findings))),
  }
}

async function layGround(options: BenchOptions, scratch: string, { cleanups, say }: BenchPorts): Promise<Ground> {
  const redis = await startRedis(scratch, options.path)
  if (redis !== null) cleanups.add(redis.stop)
  const postgres = await startPostgres(scratch, options.path)
  if (postgres !== null) cleanups.add(postgres.stop)
  return {
    path: options.path,
    scratch,
    say,
    soakMinutes: options.soakMinutes,
    bundles: {
      distFolder: resolve(options.distFolder),
      profileFolder: options.profileFolder === null ? null : resolve(options.profileFolder),
    },
    redis: redis ?? { notMeasured: 'redis-server is not installed' },
    postgres: postgres ?? { notMeasured: 'PostgreSQL is not installed' },
  }
}

/** Whatever a measure opened is closed before the next begins, and also if the bench is stopped in its midst. */
async function measure(name: MeasureName, ground: Ground, cleanups: Cleanups): Promise<Findings> {
  const own = new Cleanups()
  cleanups.add(() => own.runAll())
  const { profileFolder } = ground.bundles
  const bundles = { ...ground.bundles, profileFolder: profileFolder && join(profileFolder, name) }
  try {
    return await ALL_MEASURES[name](new Stage({ ...ground, bundles }, own), ground)
  } finally {
    await own.runAll()
  }
}

import { basename } from 'node:path'

/** Most of what a hub makes under load dies young; with more room for it less is copied around, and a fifth of its time is saved. */
const YOUNG_ROOM = '--max-semi-space-size=64'
/** It may ask for a collection while content comes in. */
const HUB_FLAGS: readonly string[] = [YOUNG_ROOM, '--expose-gc']
/** It is a hub under load all the time, and nobody shares its memory; what it runs is so wide and flat that smaller compiled functions are ready sooner and no slower. */
const SIM_FLAGS: readonly string[] = ['--max-semi-space-size=128', '--max-inlined-bytecode-size-cumulative=300']

/** What a worker makes is little: shared between threads, collecting it takes as long as the slowest of them waits for a core, which programs have. */
const WORKER_FLAGS: readonly string[] = ['--no-parallel-scavenge']

/** How Node is to run a program. */
export function nodeFlags(file: string): readonly string[] {
  return FLAGS[basename(file)] ?? []
}

const FLAGS: Readonly<Record<string, readonly string[]>> = {
  'hub.js': HUB_FLAGS,
  'worker.js': WORKER_FLAGS,
  'sim.js': SIM_FLAGS,
}

/** A hub's threads hardly allocate outside of V8's heap: without an arena for each of them it is 4 MB smaller. */
const HUB_ENV: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '2' }

/** What the C library is told; whoever has told it something already is left alone. */
export function nodeEnv(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  return basename(file) === 'hub.js' && env.MALLOC_ARENA_MAX === undefined ? HUB_ENV : {}
}

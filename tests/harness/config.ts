import { fileURLToPath } from 'node:url'

/** Where the programs under test are: what the build made, or another build named by STOKER_BUNDLES. */
export const bundles = process.env.STOKER_BUNDLES ?? fileURLToPath(new URL('../../cli/dist', import.meta.url))

/** Moves gigabytes instead of megabytes where a test can do both. */
export const isLargeRun = process.env.STOKER_LARGE === '1'

/** Repeats a run of the tests that choose at random. */
export const givenSeed = process.env.STOKER_SEED

/** Five minutes of faults instead of half of one. */
export const isLongSoak = process.env.STOKER_SOAK !== undefined

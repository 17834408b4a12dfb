import { configDefaults, defineConfig } from 'vitest/config'

const SOURCES = '{protocol,files,net,client,hub,worker,cli,sim,bench}/src'
/** Many seeds, kills, real starts and speeds: worth their time before a change lands, not at every save. */
const SLOW = [
  'sim/src/seeds.test.ts',
  'bench/src/fleet/fleet-worker.test.ts',
  ...[
    '*crash',
    '*equality',
    'speed',
    'reattach',
    'fuzz',
    'up',
    'lock-folder',
    'open',
    'backup',
    'planted',
    'deferred-commits',
    'containers*',
    'session-run',
    'process-executor',
    '*-link',
    'environments-*',
    'python',
    'model-store',
    'disk-streams',
    'json-output',
    'content',
    'join',
    'hub-and-worker',
    'doctor',
    'completion',
    'reasons',
  ].map(name => `${SOURCES}/**/${name}.test.ts`),
  'hub/src/store/contract.test.ts',
  'cli/src/program/*.test.ts',
  'worker/src/executors/*.test.ts',
  'jobs/*.test.ts',
]

/** A place for the container engines of a run; none is started before a test asks for it. */
const ENGINES = ['tests/harness/engine-setup.ts']

/** Faults of a whole network: what else the machine does would be one more, that nobody asked for. */
const ALONE = ['tests/bad-network.test.ts', 'tests/second-machine.test.ts']

/** Most of their time houses wait for something: a second file fills it. */
const SYSTEM_FILES_AT_ONCE = 2

/** What is waited for comes at once on an idle machine; a busy one is no reason to fail. */
const PATIENT = { poll: { timeout: 15_000 } }

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: [`${SOURCES}/**/*.test.ts`],
          exclude: [...configDefaults.exclude, ...SLOW],
          testTimeout: 20_000,
          expect: PATIENT,
          isolate: false,
          maxWorkers: '100%',
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'slow',
          maxConcurrency: 2,
          include: SLOW,
          testTimeout: 120_000,
          expect: PATIENT,
          hookTimeout: 60_000,
          globalSetup: ENGINES,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'system',
          include: ['tests/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...ALONE],
          testTimeout: 180_000,
          expect: PATIENT,
          hookTimeout: 60_000,
          maxWorkers: SYSTEM_FILES_AT_ONCE,
          globalSetup: ENGINES,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          name: 'system-alone',
          include: ALONE,
          testTimeout: 180_000,
          expect: PATIENT,
          hookTimeout: 60_000,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})

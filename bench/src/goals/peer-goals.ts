import type { Goal } from './goal.ts'

/** What other queues do too: ratios against a peer in the same run, else plain numbers. */
export const PEER_GOALS = {
  submitOneByOne: {
    title: 'durable submits one by one, plain HTTP',
    unit: 'jobs/s',
    better: 'higher',
    against: [{ peer: 'BullMQ', must: 0.75, aim: 1 }],
  },
  submitInFlight: {
    title: 'durable submits, plain HTTP, 50 in flight',
    unit: 'jobs/s',
    better: 'higher',
    against: [{ peer: 'BullMQ', must: 0.75, aim: 1 }],
  },
  submitByClient: {
    title: 'durable submits by the client library, 50 in flight',
    unit: 'jobs/s',
    better: 'higher',
    against: [{ peer: 'BullMQ', must: 1.5, aim: 4 }],
  },
  submitBulk: {
    title: 'durable submits in batches of 1,000',
    unit: 'jobs/s',
    better: 'higher',
    against: [
      { peer: 'graphile-worker', must: 1.5, aim: 2.5 },
      { peer: 'BullMQ', must: 4, aim: 7 },
    ],
  },
  noop: {
    title: 'no-op jobs end to end, one worker',
    unit: 'jobs/s',
    better: 'higher',
    against: [
      { peer: 'graphile-worker', must: 1, aim: 1.5 },
      { peer: 'BullMQ', must: 2, aim: 4 },
    ],
  },
  startP50: {
    title: 'idle submit → start at the worker, p50',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: 'BullMQ', must: 1, aim: 0.6 }],
  },
  startP99: {
    title: 'idle submit → start at the worker, p99',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: 'BullMQ', must: 1, aim: 0.6 }],
  },
  processes: {
    title: '`/bin/true` as a process, no sandbox, 8 at once',
    unit: 'jobs/s',
    better: 'higher',
    against: [
      { peer: 'BullMQ', must: 1.3, aim: 2 },
      { peer: 'bare spawn', must: null, aim: null },
    ],
  },
  sandboxed: {
    title: '`/bin/true`, each in its own sandbox, 8 at once',
    unit: 'jobs/s',
    better: 'higher',
    against: [{ peer: null, must: 100, aim: 250 }],
  },
  recovery: {
    title: 'hub killed and started: worker back, 10,000 live jobs there',
    unit: 's',
    better: 'lower',
    against: [{ peer: null, must: 5, aim: 1 }],
  },
  hubMemory: {
    title: 'idle memory of the hub',
    unit: 'MB',
    better: 'lower',
    against: [{ peer: null, must: 110, aim: 80 }],
  },
  workerMemory: {
    title: 'idle memory of the worker',
    unit: 'MB',
    better: 'lower',
    against: [{ peer: null, must: 80, aim: 60 }],
  },
  cliHelp: {
    title: '`stoker --help`',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: 'node -e 0', must: 2, aim: 1.3 }],
  },
} as const satisfies Record<string, Goal>

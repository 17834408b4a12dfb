import type { Goal } from './goal.ts'

/** What a hub and a worker do beside something else: uploads, viewers, busy processors, deaths, hours of work. */
export const OPS_GOALS = {
  ackBesideUpload: {
    title: 'submit ack p99 while a client uploads 1 GiB',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 50, aim: 20 }],
  },
  ackBesideArtifact: {
    title: 'submit ack p99 while a worker uploads 1 GiB',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 50, aim: 20 }],
  },
  artifactRate: {
    title: 'artifact of 1 GiB, worker → hub, checked and durable',
    unit: 'MiB/s',
    better: 'higher',
    against: [
      { peer: 'node PUT', must: 0.5, aim: 0.8 },
      { peer: 'node PUT, synced', must: null, aim: null },
    ],
  },
  uploadMemory: {
    title: 'most memory of the hub during these uploads',
    unit: 'MB',
    better: 'lower',
    against: [{ peer: null, must: 150, aim: null }],
  },
  lineToViewerP50: {
    title: 'line of a program → SSE viewer, p50',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 10, aim: 3 }],
  },
  lineToViewerP99: {
    title: 'line of a program → SSE viewer, p99',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 50, aim: 15 }],
  },
  lineToCliP50: {
    title: 'line of a program → `stoker logs -f`, p50',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 10, aim: 3 }],
  },
  lineToCliP99: {
    title: 'line of a program → `stoker logs -f`, p99',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 50, aim: 15 }],
  },
  fanOutP50: {
    title: 'line of a program → 1,000 SSE viewers, p50',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: 'bare SSE', must: null, aim: null }],
  },
  fanOutLast: {
    title: 'line of a program → the last of 1,000 SSE viewers',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: 'bare SSE', must: null, aim: null }],
  },
  fanOutMemory: {
    title: 'memory of the hub with 1,000 SSE viewers',
    unit: 'MB',
    better: 'lower',
    against: [{ peer: null, must: null, aim: null }],
  },
  fanOutCpu: {
    title: 'CPU time of the hub for a line to 1,000 SSE viewers',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: null, aim: null }],
  },
  bulkBesideCpu: {
    title: 'bulk submits beside a job on two cores, of the idle rate',
    unit: '%',
    better: 'higher',
    against: [{ peer: null, must: 40, aim: 60 }],
  },
  workerKilled: {
    title: 'worker killed → its young job runs elsewhere',
    unit: 's',
    better: 'lower',
    against: [{ peer: null, must: 20, aim: 15 }],
  },
  workerLeft: {
    title: 'worker says goodbye → its job runs elsewhere',
    unit: 's',
    better: 'lower',
    against: [{ peer: null, must: 2, aim: 0.5 }],
  },
  startStall: {
    title: 'stall of the worker at a start, p99',
    unit: 'ms',
    better: 'lower',
    against: [
      { peer: null, must: 5, aim: 2 },
      { peer: 'when idle', must: null, aim: null },
    ],
  },
  startStallLarge: {
    title: 'the same, the worker holding 1 GB more',
    unit: 'ms',
    better: 'lower',
    against: [
      { peer: null, must: 5, aim: 2 },
      { peer: 'when idle', must: null, aim: null },
    ],
  },
  soakHubMemory: {
    title: 'soak: memory of the hub, growth in its second half',
    unit: '%',
    better: 'lower',
    against: [{ peer: null, must: 10, aim: 3 }],
  },
  soakHubHandles: {
    title: 'soak: open files of the hub, growth in its second half',
    unit: '%',
    better: 'lower',
    against: [{ peer: null, must: 10, aim: 3 }],
  },
  soakHubData: {
    title: 'soak: data of the hub, growth in its second half',
    unit: '%',
    better: 'lower',
    against: [{ peer: null, must: 10, aim: 3 }],
  },
  soakWorkerMemory: {
    title: 'soak: memory of the workers, growth in its second half',
    unit: '%',
    better: 'lower',
    against: [{ peer: null, must: 10, aim: 3 }],
  },
  soakWorkerHandles: {
    title: 'soak: open files of the workers, growth in its second half',
    unit: '%',
    better: 'lower',
    against: [{ peer: null, must: 10, aim: 3 }],
  },
  soakWorkerData: {
    title: 'soak: data of the workers, growth in its second half',
    unit: '%',
    better: 'lower',
    against: [{ peer: null, must: 10, aim: 3 }],
  },
  soakLoop: {
    title: 'soak: delay of the event loop of the hub, p99 of each minute',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 20, aim: 10 }],
  },
  soakJobs: {
    title: 'soak: jobs done meanwhile',
    unit: 'jobs/s',
    better: 'higher',
    against: [{ peer: null, must: null, aim: null }],
  },
} as const satisfies Record<string, Goal>

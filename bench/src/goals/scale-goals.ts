import type { Goal } from './goal.ts'

/** Costs that grow with the backlog and the fleet: plain numbers, and one ratio against an empty hub. */
export const SCALE_GOALS = {
  backlogSubmit: {
    title: '1 M queued: a durable submit, one by one',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: 'an empty hub', must: 2, aim: 1.2 }],
  },
  backlogPlan: {
    title: '1 M queued: planning pass while a worker takes from it, p99',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 20, aim: 5 }],
  },
  backlogExplain: {
    title: '1 M queued: explain over HTTP, p90',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 20, aim: 5 }],
  },
  backlogMemory: {
    title: '1 M queued: memory of the hub',
    unit: 'MB',
    better: 'lower',
    against: [{ peer: null, must: 700, aim: 400 }],
  },
  backlogOpen: {
    title: '1 M queued: hub killed and started, gateways open',
    unit: 's',
    better: 'lower',
    against: [{ peer: null, must: 5, aim: 2 }],
  },
  backlogLoaded: {
    title: '1 M queued: hub killed and started, newest job explained',
    unit: 's',
    better: 'lower',
    against: [{ peer: null, must: 20, aim: 8 }],
  },
  shapesPass: {
    title: '1,000 shapes × 1,000 workers × 100 owners, engine alone: pass after an end or a submit, p90',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 10, aim: 3 }],
  },
  shapesLook: {
    title: '… pass that also looks for whom to keep workers',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 10, aim: 3 }],
  },
  shapesCold: {
    title: '… first pass of a start',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 100, aim: 30 }],
  },
  shapesExplain: {
    title: '… explain, p90',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 20, aim: 5 }],
  },
  mixedPass: {
    title: '… every owner has a job of every shape: pass, p90',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: null, aim: null }],
  },
  mixedCold: {
    title: '… every owner has a job of every shape: first pass of a start',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: null, aim: null }],
  },
  idleWorkersCpu: {
    title: '1,000 idle workers on real sockets: CPU of the hub',
    unit: '%',
    better: 'lower',
    against: [{ peer: null, must: 25, aim: 10 }],
  },
  idleWorkersMemory: {
    title: '1,000 idle workers on real sockets: memory of the hub',
    unit: 'MB',
    better: 'lower',
    against: [{ peer: null, must: 350, aim: 200 }],
  },
  idleHubCpu: {
    title: 'idle CPU of the hub, of one core',
    unit: '%',
    better: 'lower',
    against: [{ peer: null, must: 0.5, aim: null }],
  },
  idleWorkerCpu: {
    title: 'idle CPU of the worker, of one core',
    unit: '%',
    better: 'lower',
    against: [{ peer: null, must: 0.5, aim: null }],
  },
  simulator: {
    title: 'simulated job lives',
    unit: 'lives/s',
    better: 'higher',
    against: [{ peer: null, must: 20_000, aim: 100_000 }],
  },
} as const satisfies Record<string, Goal>

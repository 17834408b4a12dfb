import type { Goal } from './goal.ts'

/** Containers, programs that stay warm between tasks, and who watches them answer. */
export const SESSION_GOALS = {
  containerJob: {
    title: 'a container job, from its submit until its end is seen',
    unit: 'ms',
    better: 'lower',
    against: [
      { peer: 'docker run', must: 1.15, aim: 1 },
      { peer: 'docker run, as strict', must: null, aim: null },
    ],
  },
  warmTasks: {
    title: 'tasks of one warm session that takes 16 at once',
    unit: 'jobs/s',
    better: 'higher',
    against: [{ peer: null, must: 1000, aim: 3000 }],
  },
  warmTasksInTurn: {
    title: 'tasks of one warm session that takes one at a time',
    unit: 'jobs/s',
    better: 'higher',
    against: [{ peer: null, must: null, aim: null }],
  },
  handOverP50: {
    title: 'submit of a task → stdin of the warm program, p50',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 5, aim: 2 }],
  },
  handOverP99: {
    title: 'submit of a task → stdin of the warm program, p99',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: null, aim: null }],
  },
  deltaToGpuP50: {
    title: 'text_delta of a program → SSE client of /gpu, p50',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 10, aim: 3 }],
  },
  deltaToGpuP99: {
    title: 'text_delta of a program → SSE client of /gpu, p99',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: null, aim: null }],
  },
  deltaToViewerP50: {
    title: "text_delta of a program → follower of its job's events, p50",
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: 10, aim: 3 }],
  },
  deltaToViewerP99: {
    title: "text_delta of a program → follower of its job's events, p99",
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: null, aim: null }],
  },
  streamsLast: {
    title: '200 clients of /gpu with a task of 50 deltas each, until the last has its task_finish',
    unit: 's',
    better: 'lower',
    against: [{ peer: null, must: null, aim: null }],
  },
  streamsDeltaP50: {
    title: 'text_delta of a program → its client among these 200, p50',
    unit: 'ms',
    better: 'lower',
    against: [{ peer: null, must: null, aim: null }],
  },
} as const satisfies Record<string, Goal>

import type { Goal } from './goal.ts'

const perCore = { unit: 'requests/s', better: 'higher', against: [{ peer: null, must: 1000, aim: 4000 }] } as const
const polling = { unit: '%', better: 'lower', against: [{ peer: null, must: 30, aim: 15 }] } as const

/** What workers of QUBIX cost the hub; each of their calls has a connection of its own. */
export const QUBIX_GOALS = {
  qubixHeartbeats: { title: 'heartbeats of QUBIX workers for each core', ...perCore },
  qubixPolls: { title: 'polls of QUBIX workers for each core', ...perCore },
  qubixProgress: { title: 'progress of QUBIX workers for each core', ...perCore },
  qubixPolling: { title: '1,000 QUBIX workers that poll every 5 s: CPU of the hub, of one core', ...polling },
  qubixPollingBacklog: { title: '… beside 1,000 queued jobs of 20 shapes they cannot run', ...polling },
} as const satisfies Record<string, Goal>

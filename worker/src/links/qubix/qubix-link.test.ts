import { join } from 'node:path'
import { HubCalls } from '../foreign/hub-calls.ts'
import { JobJournal } from '../foreign/job-journal.ts'
import { PutTarget } from '../foreign/put-target.ts'
import { linkContract, type StandInHub } from '../link-contract.ts'
import { aMachine, type BenchParts } from '../test-link-bench.ts'
import { QubixHub } from '../test-qubix-hub.ts'
import { type QubixTimes, qubixLink } from './qubix-dialect.ts'

const BACKOFF = { baseMs: 20, maxMs: 200 }
const TIMES: QubixTimes = { heartbeatMs: 100, pollMs: 30, progressMs: 50, backoff: BACKOFF }

export function makeQubix(
  hub: Pick<StandInHub, 'url'>,
  { root, ...parts }: BenchParts,
  more: { readonly address?: string; readonly uploadUrl?: string; readonly maxJobs?: number } = {},
) {
  const { address = null, uploadUrl, maxJobs = 2 } = more
  const link = qubixLink({
    ...parts,
    ...{ hub: hub.url, maxJobs, times: TIMES, random: Math.random },
    calls: new HubCalls(hub.url, { login: null }),
    provider: {
      ...{ workerId: '0a1b2c3d4e5f6071', name: 'My Gaming PC', address, location: 'US East (Virginia)' },
      ...{ pricePerHour: 5, hardware: aMachine(), cpuMhz: 3600 },
    },
    journal: new JobJournal(join(root, 'jobs')),
    target: uploadUrl === undefined ? null : new PutTarget(uploadUrl, { backoff: BACKOFF }),
  })
  return { link }
}

linkContract({ name: 'qubix', hub: () => new QubixHub(), make: makeQubix })

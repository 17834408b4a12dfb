import { join } from 'node:path'
import { HubCalls } from './foreign/hub-calls.ts'
import { JobJournal } from './foreign/job-journal.ts'
import { PutTarget } from './foreign/put-target.ts'
import { type QubixTimes, qubixLink } from './qubix/qubix-dialect.ts'
import { aMachine, type BenchParts, type MadeLink } from './test-link-bench.ts'

const BACKOFF = { baseMs: 20, maxMs: 200 }
const TIMES: QubixTimes = { heartbeatMs: 100, pollMs: 30, progressMs: 50, backoff: BACKOFF }

export interface QubixChoices {
  readonly address?: string
  readonly uploadUrl?: string
  readonly times?: Partial<QubixTimes>
}

/** A QUBIX link in a hurry. */
export function makeQubix(
  hub: { readonly url: string },
  { root, ...parts }: BenchParts,
  { address, uploadUrl, times = {} }: QubixChoices = {},
): MadeLink {
  const link = qubixLink({
    ...parts,
    ...{ hub: hub.url, maxJobs: 2, times: { ...TIMES, ...times }, random: Math.random },
    calls: new HubCalls(hub.url, { login: null }),
    provider: {
      ...{ workerId: '0a1b2c3d4e5f6071', name: 'My Gaming PC', address: address ?? null, pricePerHour: 5 },
      ...{ location: 'US East (Virginia)', hardware: aMachine(), cpuMhz: 3600 },
    },
    journal: new JobJournal(join(root, 'jobs')),
    target: uploadUrl === undefined ? null : new PutTarget(uploadUrl, { backoff: BACKOFF }),
  })
  return { link }
}

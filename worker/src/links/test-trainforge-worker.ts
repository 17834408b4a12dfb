import { join } from 'node:path'
import type { Gpu } from '@stoker/protocol'
import { HubCalls } from './foreign/hub-calls.ts'
import { JobJournal } from './foreign/job-journal.ts'
import { aMachine, type BenchParts, type MadeLink } from './test-link-bench.ts'
import { ProjectFiles } from './trainforge/project-files.ts'
import { type TrainforgeTimes, trainforgeLink } from './trainforge/trainforge-dialect.ts'

const BACKOFF = { baseMs: 20, maxMs: 200 }
const TIMES: TrainforgeTimes = {
  ...{ heartbeatMs: 100, pollMs: 30, logsMs: 50, checkMs: 50, holdMs: 300, backoff: BACKOFF },
}

export interface TrainforgeChoices {
  readonly gpus?: readonly Gpu[]
  readonly times?: Partial<TrainforgeTimes>
}

/** A TrainForge link in a hurry; projects may also lie in `shared` of its folder. */
export function makeTrainforge(
  hub: { readonly url: string },
  { root, ...parts }: BenchParts,
  { gpus = [], times = {} }: TrainforgeChoices = {},
): MadeLink {
  const calls = new HubCalls(hub.url, { login: null })
  const localRoots = [join(root, 'shared')]
  const projects = new ProjectFiles({ calls, folder: join(root, 'projects'), localRoots, backoff: BACKOFF })
  const { link } = trainforgeLink({
    ...parts,
    ...{ hub: hub.url, calls, projects, times: { ...TIMES, ...times }, random: Math.random },
    ...{ loadAverage: () => [0.9, 0.7, 0.3], journal: new JobJournal(join(root, 'jobs')) },
    node: { workerId: 'gpu node/1', hardware: aMachine(gpus), maxJobs: 2 },
  })
  return { link, contentOf: projects.contentOf }
}

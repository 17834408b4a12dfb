import { join } from 'node:path'
import { HubCalls } from '../foreign/hub-calls.ts'
import { JobJournal } from '../foreign/job-journal.ts'
import { linkContract, type StandInHub } from '../link-contract.ts'
import { aMachine, type BenchParts } from '../test-link-bench.ts'
import { TrainforgeHub } from '../test-trainforge-hub.ts'
import { ProjectFiles } from './project-files.ts'
import { type TrainforgeTimes, trainforgeLink } from './trainforge-dialect.ts'

const BACKOFF = { baseMs: 20, maxMs: 200 }
const TIMES: TrainforgeTimes = {
  ...{ heartbeatMs: 100, pollMs: 30, logsMs: 50, checkMs: 50, holdMs: 500, backoff: BACKOFF },
}

export function makeTrainforge(hub: Pick<StandInHub, 'url'>, { root, ...parts }: BenchParts) {
  const calls = new HubCalls(hub.url, { login: null })
  const localRoots = [join(root, 'shared')]
  const projects = new ProjectFiles({ calls, folder: join(root, 'projects'), localRoots, backoff: BACKOFF })
  const { link } = trainforgeLink({
    ...parts,
    ...{ hub: hub.url, calls, projects, times: TIMES, random: Math.random, loadAverage: () => [0.9, 0.7, 0.3] },
    node: { workerId: 'gpu node/1', hardware: aMachine(), maxJobs: 2 },
    journal: new JobJournal(join(root, 'jobs')),
  })
  return { link, contentOf: projects.contentOf }
}

const NO_PROGRESS = { progress: 'no message of this dialect carries progress' }

linkContract({
  ...{ name: 'trainforge by poll', hub: () => new TrainforgeHub('workers'), make: makeTrainforge },
  cannot: NO_PROGRESS,
})
linkContract({
  ...{ name: 'trainforge with claims', hub: () => new TrainforgeHub('claims'), make: makeTrainforge },
  cannot: NO_PROGRESS,
})

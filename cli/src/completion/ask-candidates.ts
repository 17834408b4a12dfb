import { withHub } from '../connect.ts'
import { readContexts } from '../contexts.ts'
import type { Io } from '../io.ts'
import { shortId } from '../output/job-words.ts'
import { plainText } from '../output/plain-text.ts'
import { SELECTOR_WORDS } from '../select/selector.ts'
import type { Candidate, Kind } from './complete-words.ts'

/** A person waits at the key: a hub that is slower than this does not help. */
const PATIENCE_MS = 600
const RECENT_JOBS = 30

/** Things that exist now; none where nobody answers in time. */
export async function askCandidates(io: Io, kind: Exclude<Kind, 'files'>, context?: string): Promise<Candidate[]> {
  try {
    if (kind === 'context') return await contexts(io)
    if (kind === 'worker') return await workers(io, context)
    const words = kind === 'jobs' ? SELECTOR_WORDS : ['last']
    const found = await jobs(io, context).catch(() => [])
    return [
      ...found,
      ...words.map(word => ({ word, meaning: word === 'last' ? 'your newest job' : 'all in this state' })),
    ]
  } catch {
    return []
  }
}

async function contexts(io: Io): Promise<Candidate[]> {
  const known = await readContexts(io.config.contextsFile)
  return Object.entries(known.contexts).map(([word, { url }]) => ({ word, meaning: url }))
}

function workers(io: Io, context: string | undefined): Promise<Candidate[]> {
  return withHub(io, { context }, async client => {
    const all = await client.workers(AbortSignal.timeout(PATIENCE_MS))
    return all.map(worker => ({ word: plainText(worker.name), meaning: worker.state }))
  })
}

function jobs(io: Io, context: string | undefined): Promise<Candidate[]> {
  return withHub(io, { context }, async client => {
    const page = await client.jobs({ limit: RECENT_JOBS }, AbortSignal.timeout(PATIENCE_MS))
    return page.jobs.map(job => ({ word: shortId(job.id), meaning: plainText(`${job.state} ${job.name}`) }))
  })
}

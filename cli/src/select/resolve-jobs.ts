import type { Client, JobFilter } from '@stoker/client'
import { type Job, type JobState, nearest } from '@stoker/protocol'
import type { Command } from 'commander'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { gatherText } from '../spec/spec-options.ts'
import { gatherPages } from './list-pages.ts'
import { parseSelector, type Selector } from './selector.ts'

export const JOB_HELP = 'id, last digits, last, last~2, @NAME'
export const JOBS_HELP = 'ids, last digits, last, last~2, @NAME, or a state such as failed'

export interface SelectOptions {
  readonly label?: readonly string[] | undefined
  readonly owner?: string | undefined
}

/** Chosen jobs; `isNamed` tells that each was named by a word of its own, not found by what it has in common with others. */
export interface Selection {
  readonly ids: readonly string[]
  readonly isNamed: boolean
}

/** More at once is no selection but a mistake, and takes minutes one by one. */
const MOST_JOBS = 10_000

type SelectClient = Pick<Client, 'jobs' | 'me'>

/** The options of commands that take many jobs. */
export function withSelection(command: Command): Command {
  return command
    .option('-l, --label <K=V>', 'your jobs with this label (repeatable)', gatherText)
    .option('--owner <owner>', 'jobs of this owner instead of your own (admin)')
}

/** One job; a state stands for its newest. */
export async function resolveJob(client: SelectClient, word: string, of: SelectOptions = {}): Promise<string> {
  const selector = parseSelector(word)
  if (selector.kind === 'id') return selector.id
  const narrowed: Selector = selector.kind === 'state' ? { kind: 'newest', name: null, back: 0 } : selector
  const states = selector.kind === 'state' ? selector.states : undefined
  return newest(client, narrowed, await baseFilter(client, of), states, word)
}

/** All jobs the words and labels name, each once; `states` is what labels alone stand for. */
export async function resolveJobs(
  client: SelectClient,
  words: readonly string[],
  of: SelectOptions,
  states: readonly JobState[] | undefined,
): Promise<Selection> {
  const selectors = words.map(word => ({ word, selector: parseSelector(word) }))
  const hasLabels = of.label !== undefined && of.label.length > 0
  if (selectors.length === 0 && !hasLabels) throw usage('name jobs, or choose them with --label KEY=VALUE')
  if (hasLabels && selectors.some(({ selector }) => selector.kind === 'id'))
    throw usage('an id names one job, --label chooses among many; give one or the other')
  const isNamed = selectors.length > 0 && selectors.every(({ selector }) => selector.kind !== 'state')
  if (selectors.length > 0 && selectors.every(({ selector }) => selector.kind === 'id'))
    return { ids: unique(words), isNamed }
  const base = await baseFilter(client, of)
  if (selectors.length === 0) return { ids: await all(client, { ...base, state: states }), isNamed }
  const found: string[] = []
  for (const { word, selector } of selectors) {
    if (selector.kind === 'id') found.push(selector.id)
    else if (selector.kind === 'newest') found.push(await newest(client, selector, base, undefined, word))
    else found.push(...(await all(client, { ...base, state: selector.states })))
  }
  return { ids: unique(found), isNamed }
}

/** Lists of an admin show everybody's jobs; words such as `last` or `failed` mean one's own. */
async function baseFilter(client: SelectClient, { label, owner }: SelectOptions): Promise<JobFilter> {
  return { label, owner: owner ?? (await client.me()).owner }
}

async function all(client: SelectClient, filter: JobFilter): Promise<readonly string[]> {
  const { page } = await gatherPages(client, { ...filter, limit: MOST_JOBS })
  if (page.next !== null) throw usage(`more than ${page.jobs.length} jobs may match; narrow them with --label`)
  return page.jobs.map(job => job.id)
}

async function newest(
  client: SelectClient,
  { name, back }: Extract<Selector, { kind: 'newest' }>,
  base: JobFilter,
  state: readonly JobState[] | undefined,
  word: string,
): Promise<string> {
  const filter = { ...base, state, name: name ?? undefined, limit: back + 1 }
  const { jobs } = (await gatherPages(client, filter)).page
  const job = jobs[back]
  if (job !== undefined) return job.id
  throw new Failure(`"${word}" names no job: ${await why(client, base, jobs, name)}`, {
    exitCode: EXIT.notFound,
    code: 'job.not_found',
    details: ['see them with:  stoker list'],
  })
}

async function why(client: SelectClient, base: JobFilter, found: readonly Job[], name: string | null): Promise<string> {
  const whose = `${base.owner ?? 'you'} ${base.label === undefined ? '' : `with ${base.label.join(', ')} `}`
  if (found.length > 0) return `${whose}has ${found.length} ${name === null ? 'jobs' : `jobs named "${name}"`}`
  if (name === null) return `${whose}has no such job`
  const recent = (await client.jobs({ ...base, limit: 200 })).jobs.map(job => job.name)
  const close = nearest(name, recent)
  return `${whose}has no job named "${name}"${close === null ? '' : `; did you mean "@${close}"?`}`
}

function unique(ids: readonly string[]): readonly string[] {
  return [...new Set(ids)]
}

function usage(message: string): Failure {
  return new Failure(message, { exitCode: EXIT.usage, code: 'cli.usage' })
}

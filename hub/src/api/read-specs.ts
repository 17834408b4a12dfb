import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type ExpandedSpec,
  expandSpec,
  formatSize,
  isSweep,
  MAX_MEMBERS,
  MAX_SPEC_BYTES,
  parseJobSpec,
  Refused,
  type SpecIssue,
} from '@stoker/protocol'
import { expandPreset, namesPreset, type PresetSource } from '../presets/expand-preset.ts'
import type { PresetBook } from '../presets/preset.ts'
import { checkExpansion, NO_PROGRAMS, type ProgramBook } from '../programs/program-book.ts'
import type { InTurn } from './one-at-a-time.ts'

export const MAX_JOBS = MAX_MEMBERS
/** A spec takes some 10 µs to parse: others get their turn after a few milliseconds. */
const SPECS_A_TURN = 250

interface Reading {
  readonly presets: PresetSource
  readonly programs?: ProgramBook | undefined
  readonly reading: InTurn
}

/**
 * The specs of a submit, one or a batch, with the groups some of them make; everything wrong is found in one go.
 * `bodyBytes` is what the sender said, if it did. Large batches are read one after the other: the first is on its way
 * to the disk while the second is read, where two read in turns would both be late.
 */
export async function readSpecs(body: unknown, bodyBytes: number, context: Reading): Promise<readonly ExpandedSpec[]> {
  const { presets, programs = NO_PROGRAMS, reading } = context
  const mayBeLarge = !(bodyBytes <= MAX_SPEC_BYTES)
  if (!isBatch(body)) {
    const book = namesPreset(body) ? await presets.current() : null
    const parsed = await readAny(body, null, { mayBeLarge, presets, programs, book })
    if ('specs' in parsed) return [parsed]
    throw invalid(parsed.issues)
  }
  const { jobs } = body
  checkBatch(body, jobs)
  const read = async () => {
    const book = jobs.some(namesPreset) ? await presets.current() : null
    return readBatch(jobs, { mayBeLarge, presets, programs, book })
  }
  return jobs.length <= SPECS_A_TURN ? read() : reading(read)
}

async function readBatch(jobs: readonly unknown[], terms: Terms): Promise<readonly ExpandedSpec[]> {
  const specs: ExpandedSpec[] = []
  const issues: SpecIssue[] = []
  for (const [i, value] of jobs.entries()) {
    if (i > 0 && i % SPECS_A_TURN === 0) await nextTurn()
    const isPlain = terms.book === null && !isSweep(value)
    const parsed = isPlain ? readOne(value, i, terms) : await readAny(value, i, terms)
    if ('specs' in parsed) specs.push(parsed)
    else issues.push(...parsed.issues)
  }
  if (issues.length > 0) throw invalid(issues)
  checkCount(specs)
  return specs
}

type One = ExpandedSpec | { readonly issues: readonly SpecIssue[] }

/** Where a spec is in its batch; null for one that came alone. */
type Place = number | null

/** What all specs of a submit are read by. */
interface Terms {
  readonly mayBeLarge: boolean
  readonly presets: PresetSource
  readonly programs: ProgramBook
  /** Null where no spec names a preset. */
  readonly book: PresetBook | null
}

async function readAny(value: unknown, at: Place, terms: Terms): Promise<One> {
  const { presets, book } = terms
  if (book === null || !namesPreset(value))
    return isSweep(value) ? readSweep(value, at, terms) : readOne(value, at, terms)
  const expanded = expandPreset(value, book, presets.settings, at === null ? 'preset' : `jobs[${at}].preset`)
  if ('issues' in expanded) return { issues: placed(expanded.issues, at) }
  return isSweep(expanded.spec) ? readSweep(expanded.spec, at, terms) : readOne(expanded.spec, at, terms)
}

function readOne(value: unknown, at: Place, { mayBeLarge, programs }: Terms): One {
  if (mayBeLarge) checkSize(value, at)
  const parsed = parseJobSpec(value)
  if (!parsed.ok) return { issues: placed(parsed.issues, at) }
  const checked = programs.check(parsed.spec)
  return 'spec' in checked ? { specs: [checked.spec], group: null } : { issues: placed(checked.issues, at) }
}

async function readSweep(value: unknown, at: Place, { mayBeLarge, programs }: Terms): Promise<One> {
  if (mayBeLarge) checkSize(value, at)
  const parsed = await expandSpec(value, async done => {
    if (done % SPECS_A_TURN === 0) await nextTurn()
  })
  const checked = checkExpansion(parsed, programs)
  return checked.ok ? checked.expanded : { issues: placed(checked.issues, at) }
}

function placed(issues: readonly SpecIssue[], at: Place): readonly SpecIssue[] {
  const prefix = at === null ? '' : `jobs[${at}].`
  return issues.map(({ path, message }) => ({ path: `${prefix}${path}`, message }))
}

function checkCount(specs: readonly ExpandedSpec[]): void {
  const count = specs.reduce((sum, one) => sum + one.specs.length, 0)
  if (count > MAX_JOBS)
    throw invalid([{ path: 'jobs', message: `makes ${count} jobs with its groups; a batch has at most ${MAX_JOBS}` }])
}

/** A job spec has no key `jobs`, so one tells a batch. */
function isBatch(body: unknown): body is { readonly jobs: unknown } {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, 'jobs')
}

function checkBatch(body: object, jobs: unknown): asserts jobs is readonly unknown[] {
  const others = Object.keys(body).filter(key => key !== 'jobs')
  if (others.length > 0) {
    const path = others[0] ?? ''
    throw invalid([{ path, message: 'unknown key beside "jobs"; a batch has only that (known: jobs)' }])
  }
  if (!Array.isArray(jobs)) throw invalid([{ path: 'jobs', message: `found ${typeof jobs}; allowed: array` }])
  if (jobs.length < 1 || jobs.length > MAX_JOBS) {
    throw invalid([{ path: 'jobs', message: `found ${jobs.length} jobs; a batch has 1 to ${MAX_JOBS}` }])
  }
}

function checkSize(value: unknown, at: Place): void {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '')
  if (bytes <= MAX_SPEC_BYTES) return
  const which = at === null ? 'the spec' : `jobs[${at}]`
  throw new Refused(
    'request.too_large',
    `${which} has ${bytes} bytes (${formatSize(bytes)}), a spec has at most ${MAX_SPEC_BYTES} (${formatSize(MAX_SPEC_BYTES)})`,
  )
}

function invalid(issues: readonly SpecIssue[]): Refused {
  const [first] = issues
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return new Refused('spec.invalid', `${first?.path}: ${first?.message}${more}`, issues)
}

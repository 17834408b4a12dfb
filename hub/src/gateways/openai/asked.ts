import {
  formatDuration,
  formatSize,
  type JobRow,
  type JobSpecInput,
  MAX_SPEC_BYTES,
  parseJobSpec,
} from '@stoker/protocol'
import { newJobs } from '../../engine/new-jobs.ts'
import { withPresetQueues } from '../../presets/expand-preset.ts'
import type { Preset, PresetBook } from '../../presets/preset.ts'
import { presetSpec } from '../../presets/preset-spec.ts'
import { refuseWhenFull } from '../../serving/refuse-when-full.ts'
import { invalidRequest } from './api-error.ts'
import type { OpenAiContext } from './context.ts'
import type { Kind } from './models.ts'

export interface Request {
  readonly owner: string
  /** As it was when the request came: one look at the files is enough. */
  readonly book: PresetBook
  readonly preset: Preset
  readonly kind: Kind
  /** What each task is given: together they are one request, and are taken together or not at all. */
  readonly inputs: readonly Readonly<Record<string, unknown>>[]
}

/** The tasks of a request, durable and in the queue of their preset. */
export async function ask(
  context: OpenAiContext,
  { owner, book, preset, kind, inputs }: Request,
): Promise<readonly JobRow[]> {
  const { engine, queries, presets, newId, diskGuard } = context
  refuseWhenFull(diskGuard)
  const specs = inputs.map(input => {
    const given = { ...input, kind } as NonNullable<JobSpecInput['input']>
    const parsed = parseJobSpec(presetSpec(preset, presets.settings, { input: given }))
    if (!parsed.ok)
      throw invalidRequest(parsed.issues.map(({ path, message }) => `${path}: ${message}`).join('; '), null)
    return parsed.spec
  })
  const { jobs } = newJobs([{ specs, group: null }], newId)
  for (const { specText } of jobs) refuseLarge(Buffer.byteLength(specText))
  const asked = await withPresetQueues(jobs, { current: async () => book, settings: presets.settings })
  const { firstSeq, count } = await engine.execute({ kind: 'submit', owner, jobs: asked, key: null, failFast: false })
  return queries.jobsBySeq(Array.from({ length: count }, (_, i) => firstSeq + i))
}

function refuseLarge(bytes: number): void {
  if (bytes <= MAX_SPEC_BYTES) return
  throw invalidRequest(
    `the request makes a task of ${formatSize(bytes)}, a task has at most ${formatSize(MAX_SPEC_BYTES)}`,
    null,
    413,
  )
}

/** Whoever gives up a task that runs would end the program for everybody it works for: only those that wait are canceled. */
export async function cancelWaiting(
  { engine }: Pick<OpenAiContext, 'engine'>,
  rows: readonly JobRow[],
  by: string,
): Promise<void> {
  for (const { seq } of rows) await engine.execute({ kind: 'withdraw', job: seq, by })
}

/** A request waits for a place as long as it may take to be answered, and no longer. */
export function lateBy({ timeoutMs, name }: Preset): string {
  return `the hub: no session of ${name} had a place for it in ${formatDuration(timeoutMs)}`
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Fence, isTerminal, type JobRow } from '@stoker/protocol'
import type { OutputPiece, StreamName, StreamOffsets, Streams } from '../outputs/port.ts'
import type { Queries } from '../store/port.ts'
import { atMostEvery } from './at-most-every.ts'
import { Bell } from './bell.ts'
import type { JobWatch } from './job-watch.ts'
import { OutputFollower } from './output-follower.ts'
import { SignsOfLife } from './signs-of-life.ts'

const PROGRESS_PAUSE_MS = 1000
/** Above this a reader takes a noticeable part of a millisecond: everybody else comes first, then its next piece. */
const FAIR_BYTES = 16 * 1024
export const BEGINNING: StreamOffsets = { stdout: 0, stderr: 0 }

/** What a follower of a job learns. All output of an attempt comes before its `over`, everything before `end`. */
export type JobNews =
  | { readonly kind: 'job'; readonly row: JobRow }
  | { readonly kind: 'progress'; readonly row: JobRow }
  | { readonly kind: 'output'; readonly attempt: number; readonly pieces: readonly OutputPiece[] }
  | { readonly kind: 'over'; readonly attempt: number; readonly row: JobRow }
  /** Comes again and again, whatever else does: news may be nothing that a reader is told. */
  | { readonly kind: 'quiet' }
  | { readonly kind: 'end'; readonly row: JobRow }

export interface FollowFrom {
  readonly attempt: number
  readonly offsets: StreamOffsets
  readonly only?: StreamName | undefined
  /** False follows the state alone, without reading a byte of output. */
  readonly hasOutput?: boolean | undefined
}

interface FollowPorts {
  readonly queries: Pick<Queries, 'jobById' | 'attemptsOf'>
  readonly streams: Pick<Streams, 'read' | 'watch'>
  readonly watch: Pick<JobWatch, 'add'>
}

/** Follows a job from a place in its output to its end, over all attempts. Waits for nothing but its reader and the hub. */
export async function* followJob(
  { queries, streams, watch }: FollowPorts,
  known: JobRow,
  from: FollowFrom,
  signal: AbortSignal,
): AsyncGenerator<JobNews, void> {
  const bell = new Bell()
  let isChanged = true
  let hasProgress = false
  const progress = atMostEvery(PROGRESS_PAUSE_MS, () => {
    hasProgress = true
    bell.ring()
  })
  const changed = (): void => {
    isChanged = true
    bell.ring()
  }
  const unwatch = watch.add(known.seq, { changed, progressed: progress.poke })
  let row = known
  let { attempt, offsets } = from
  let output: OutputFollower | null = null
  const signs = new SignsOfLife()
  try {
    while (!signal.aborted) {
      if (signs.isDue()) yield { kind: 'quiet' }
      if (isChanged) {
        isChanged = false
        hasProgress = false
        row = (await queries.jobById(known.id)) ?? row
        if (!isTerminal(row.state)) yield { kind: 'job', row }
      } else if (hasProgress) {
        hasProgress = false
        yield { kind: 'progress', row }
      }
      if (output === null && from.hasOutput !== false && attempt <= row.attempts) {
        const fence = await fenceOf(queries, row, attempt)
        output = new OutputFollower(streams, fence, offsets, { only: from.only, wake: bell.ring })
      }
      if (output !== null && isOver(row, attempt)) {
        for await (const pieces of output.rest()) {
          yield { kind: 'output', attempt, pieces }
          if (isMuch(pieces)) await nextTurn()
        }
        yield { kind: 'over', attempt, row }
        output.close()
        output = null
        offsets = BEGINNING
        attempt += 1
        continue
      }
      const pieces = (await output?.take()) ?? []
      if (pieces.length > 0) {
        yield { kind: 'output', attempt, pieces }
        if (isMuch(pieces)) await nextTurn()
      } else if (isTerminal(row.state)) return yield { kind: 'end', row }
      else await bell.wait(signs.nextInMs, signal)
    }
  } finally {
    unwatch()
    progress.stop()
    output?.close()
  }
}

function isMuch(pieces: readonly OutputPiece[]): boolean {
  return pieces.reduce((sum, { bytes }) => sum + bytes.length, 0) > FAIR_BYTES
}

/** A lost attempt may come back until another takes its place; every other end is final. */
export function isOver(row: JobRow, attempt: number): boolean {
  if (attempt < row.attempts || isTerminal(row.state)) return true
  return row.attemptState === 'ended' && row.outcome !== 'lost'
}

/** The current attempt is in the job's row, earlier ones are rows of their own. */
export async function fenceOf(queries: FollowPorts['queries'], row: JobRow, attempt: number): Promise<Fence> {
  if (attempt === row.attempts && row.attemptEpoch !== null) return { job: row.seq, epoch: row.attemptEpoch, attempt }
  const earlier = (await queries.attemptsOf(row.seq)).find(({ number }) => number === attempt)
  if (earlier === undefined)
    throw new Error(`job ${row.id} has had ${row.attempts} attempts, but attempt ${attempt} is not kept`)
  return { job: row.seq, epoch: earlier.epoch, attempt }
}

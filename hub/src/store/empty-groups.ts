import type { GroupRow } from '@stoker/protocol'
import type { EmptyGroups } from './port.ts'

/** Which of the groups seen, in order of their first seq, ended before a time and have no job left, and where the next look begins. Who was submitted later cannot have ended before. */
export function emptyAmong(
  seen: readonly GroupRow[],
  endedBefore: number,
  look: number,
  hasJob: (from: number, to: number) => boolean,
): EmptyGroups {
  const old = seen.filter(({ submittedAt }) => submittedAt < endedBefore)
  const isGone = ({ endedAt, firstSeq, size }: GroupRow) =>
    endedAt !== null && endedAt < endedBefore && !hasJob(firstSeq, firstSeq + size)
  return {
    ids: old.filter(isGone).map(({ id }) => id),
    next: old.length < look ? null : (old.at(-1)?.firstSeq ?? null),
  }
}

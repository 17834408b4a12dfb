import { formatSize, type Owner, type OwnerPage } from '@stoker/protocol'
import { countsText } from './group-views.ts'
import type { View } from './printer.ts'
import { type Column, table } from './table.ts'

export const ownerPageView: View<OwnerPage> = {
  ids: page => page.owners.map(one => one.owner),
  human: (page, paper) => table(COLUMNS, page.owners, paper),
}

export const ownerView: View<Owner> = {
  ids: one => [one.owner],
  human: (one, paper) => table(COLUMNS, [one], paper),
}

const COLUMNS: readonly Column<Owner>[] = [
  { title: 'OWNER', cell: one => one.owner, shrinkTo: 5 },
  { title: 'QUEUED', cell: ({ counts, limits }) => used(counts.queued + counts.waiting, limits.queued) },
  { title: 'RUNNING', cell: ({ running, limits }) => used(running, limits.running) },
  { title: 'GPUS', cell: ({ gpus, limits }) => used(gpus, limits.gpus) },
  {
    title: 'BYTES',
    cell: ({ bytes, limits }) => used(formatSize(bytes), limits.bytes === null ? null : formatSize(limits.bytes)),
  },
  { title: 'JOBS', cell: ({ counts }) => countsText(counts), shrinkTo: 10, importance: 1 },
]

function used(now: number | string, limit: number | string | null): string {
  return limit === null ? String(now) : `${now} of ${limit}`
}

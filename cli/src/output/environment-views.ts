import { type EnvironmentEntry, formatDuration, formatSize } from '@stoker/protocol'
import { ago } from './job-words.ts'
import type { Paper } from './paper.ts'
import type { View } from './printer.ts'
import type { OutputOf } from './schemas.ts'
import { type Column, table } from './table.ts'

/** What is installed on this machine, most recently used first. */
export const environmentsView: View<OutputOf<'env list'>> = {
  ids: ({ environments }) => environments.map(({ key }) => key),
  human({ folder, limitBytes, wheels, environments }, paper) {
    if (environments.length === 0) return `nothing is installed in ${folder}`
    const bytes = environments.reduce((sum, one) => sum + one.bytes, wheels.bytes)
    const total = `${formatSize(bytes)} of ${formatSize(limitBytes)}, with ${wheels.count} wheels (${formatSize(wheels.bytes)})`
    return [table(columns(paper), environments, paper), '', paper.color.dim(total)].join('\n')
  },
}

export const warmedView: View<OutputOf<'env warm'>> = {
  ids: ({ environment }) => [environment.key],
  human: ({ wasThere, environment: { packages, bytes, seconds, path } }) =>
    wasThere
      ? `${packages.length} packages are there already, in ${path}`
      : `${packages.length} packages (${formatSize(bytes)}) installed in ${formatDuration(seconds * 1000)}, in ${path}`,
}

export const prunedView: View<OutputOf<'env prune'>> = {
  ids: ({ environments }) => environments,
  human: ({ environments, wheels, bytes }) =>
    `Gone: ${environments.length} environments, ${wheels} wheels (${formatSize(bytes)}).`,
}

function columns({ now }: Paper): Column<EnvironmentEntry>[] {
  return [
    { title: 'KEY', cell: one => one.key },
    { title: 'TYPES', cell: one => one.types.join(', ') || '-', shrinkTo: 10 },
    { title: 'PYTHON', cell: one => one.python, importance: 2 },
    { title: 'SIZE', cell: one => formatSize(one.bytes) },
    { title: 'USED', cell: one => ago(one.usedAt, now), importance: 3 },
    { title: 'JOBS', cell: one => String(one.inUse), importance: 4 },
    { title: 'PACKAGES', cell: one => `${one.packages.length}: ${one.packages.join(', ')}`, shrinkTo: 10 },
  ]
}

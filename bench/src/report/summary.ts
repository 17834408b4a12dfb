import type { Machine } from '../machine/describe.ts'
import type { Stretch } from '../machine/disturbance.ts'
import type { FsyncTime } from '../machine/fsync-time.ts'
import type { Line } from './lines.ts'
import { tableOf } from './table.ts'

/** A whole run: what is written as JSON, and what the pages are made from. */
export interface Summary {
  readonly at: string
  readonly seconds: number
  readonly machine: Machine
  readonly fsync: FsyncTime | null
  readonly disturbances: readonly string[]
  readonly stretches: readonly Stretch[]
  readonly notes: readonly string[]
  readonly lines: readonly Line[]
}

export function summaryText(summary: Summary): string {
  const { disturbances, notes, lines } = summary
  return [
    machineText(summary),
    '',
    tableOf(lines),
    '',
    'Medians of interleaved rounds (smallest–largest); ~ marks rounds that lay far apart.',
    ...notes,
    ...(disturbances.length === 0
      ? ['The machine was quiet.']
      : ['DISTURBED, do not trust absolute figures:', ...disturbances]),
    verdictText(lines),
  ].join('\n')
}

/** The section of the documentation: the same facts, without the verdict on this one run. */
export function markdownOf(summary: Summary): string {
  const { disturbances, notes, lines, at } = summary
  const doubts = disturbances.length === 0 ? [] : ['', `Measured on a disturbed machine: ${disturbances.join('; ')}.`]
  return [
    `## Measured on ${at.slice(0, 10)}`,
    '',
    `${machineText(summary)}.`,
    ...doubts,
    ...(notes.length === 0 ? [] : ['', ...notes]),
    '',
    tableOf(lines),
  ].join('\n')
}

function machineText({ machine, fsync, seconds }: Summary): string {
  const { cores, cpuModel, memoryGb, system, versions } = machine
  const software = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return [
    `${cores} cores (${cpuModel}), ${memoryGb} GB, ${system}`,
    software.join(', '),
    fsync === null
      ? 'sync unknown'
      : `4 KiB durable in ${fsync.p50Ms.toFixed(2)} ms p50, ${fsync.p99Ms.toFixed(2)} ms p99`,
    `the run took ${Math.round(seconds)} s`,
  ].join('; ')
}

function verdictText(lines: readonly Line[]): string {
  const missed = lines.filter(line => line.verdict === 'missed')
  if (missed.length === 0) return 'Every measured goal is met.'
  return `Missed: ${missed.map(({ title, peer }) => (peer === null ? title : `${title} against ${peer}`)).join('; ')}.`
}

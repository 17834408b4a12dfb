import { ago } from './job-words.ts'
import type { Paper } from './paper.ts'
import type { View } from './printer.ts'
import type { OutputOf } from './schemas.ts'
import { type Column, table } from './table.ts'

type Local = OutputOf<'worker --status'>['workers'][number]

/** The workers of this machine, as they say of themselves. */
export const localWorkersView: View<OutputOf<'worker --status'>> = {
  ids: ({ workers }) => workers.flatMap(worker => worker.workerId ?? []),
  human: ({ workers }, paper) =>
    workers.length === 0
      ? 'no worker on this machine; start one with `stoker worker`'
      : table(columns(paper), workers, paper),
}

function columns(paper: Paper): Column<Local>[] {
  return [
    { title: 'NAME', cell: one => one.name ?? '-', shrinkTo: 6 },
    { title: 'STATE', cell: one => one.state, paint: (text, one) => paint(one, text, paper) },
    { title: 'PID', cell: one => String(one.pid ?? '-') },
    { title: 'JOBS', cell: one => (one.running === undefined ? '-' : `${one.running}/${one.maxJobs}`) },
    { title: 'CONNECTED', cell: one => (one.connectedSince ? ago(one.connectedSince, paper.now) : '-'), importance: 3 },
    { title: 'HUB', cell: one => one.hub ?? '-', shrinkTo: 10, importance: 4 },
    { title: 'VERSION', cell: one => one.version ?? '-', importance: 2 },
    { title: 'FOLDER', cell: one => one.folder, shrinkTo: 10, importance: 1 },
  ]
}

function paint(one: Local, text: string, { color }: Paper): string {
  if (one.state === 'connected') return color.green(text)
  return one.state === 'stopped' ? color.dim(text) : color.yellow(text)
}

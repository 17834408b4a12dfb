import { type Device, formatSize, USES, type Worker, type WorkerDetail } from '@stoker/protocol'
import { ago, shortId } from './job-words.ts'
import type { Paper } from './paper.ts'
import { plainText } from './plain-text.ts'
import type { View } from './printer.ts'
import { type Column, table } from './table.ts'

export const workersView: View<{ readonly workers: readonly Worker[] }> = {
  ids: ({ workers }) => workers.map(worker => worker.id),
  human({ workers }, paper) {
    if (workers.length === 0) return 'no workers; start one with `stoker worker`'
    return table(workerColumns(paper), workers, paper)
  },
}

export const workerView: View<Worker> = {
  ids: worker => [worker.id],
  human: (worker, paper) => table(workerColumns(paper), [worker], paper),
}

/** One worker: its machine, what it can do, what it runs now. */
export const workerDetailView: View<WorkerDetail> = {
  ids: worker => [worker.id],
  human(worker, paper) {
    const { hardware, abilities } = worker
    const gpus = worker.devices.map(device => deviceText(device, worker))
    const jobs = worker.attempts.map(one => `runs ${shortId(one.job)}, attempt ${one.attempt}, ${one.state}`)
    const lines = [
      `${hardware.cpuModel}, ${hardware.cores} cores, ${formatSize(hardware.memoryBytes)}, ${hardware.os} ${hardware.arch}`,
      ...gpus,
      hardware.gpuNote ?? '',
      `programs: ${abilities.executors.includes('process') ? isolationText(abilities) : 'none, inline types only'}`,
      ...containerLines(abilities.containers),
      ...foreignLines(abilities.foreign),
      ...typeLines(abilities.types),
      abilities.note ?? '',
      ...jobs,
    ]
    const details = lines.filter(line => line !== '').map(line => plainText(line))
    return [table(workerColumns(paper), [worker], paper), '', ...details].join('\n')
  },
}

function deviceText(device: Device, { samples }: WorkerDetail): string {
  const { index, name, memoryMb, claims, claimedMb, foreignMb, fault, quarantine, uuid, simulated } = device
  const sample = samples.at(-1)?.gpus.find(one => one.uuid === uuid)
  const words = [
    `GPU ${index}: ${name}`,
    formatSize(memoryMb * 2 ** 20),
    sample?.utilization == null ? '' : `${sample.utilization}% busy`,
    claims === 0 ? 'free' : `${formatSize(claimedMb * 2 ** 20)} claimed by ${claims} job${claims === 1 ? '' : 's'}`,
    foreignMb === null || foreignMb === 0 ? '' : `${formatSize(foreignMb * 2 ** 20)} used by programs of others`,
    fault === null ? '' : `FAULTY: ${fault}`,
    quarantine === null ? '' : `QUARANTINED by ${quarantine.by}: ${quarantine.reason}`,
    simulated ? 'simulated' : '',
    uuid,
  ]
  return words.filter(word => word !== '').join(', ')
}

function containerLines(containers: WorkerDetail['abilities']['containers']): string[] {
  if (containers === undefined) return []
  const { engine, version, images, allowedImages, allowedMounts, gpus, pulls } = containers
  const facts = [
    `containers: ${engine} ${version}`,
    `${images.length} image${images.length === 1 ? '' : 's'}`,
    pulls ? '' : 'fetches none',
    gpus ? 'with GPUs' : 'without GPUs',
    allowedImages.length === 0 ? 'every image allowed' : `allowed: ${allowedImages.join(' ')}`,
    allowedMounts.length === 0 ? 'no mounts' : `mounts below ${allowedMounts.join(' ')}`,
  ]
  return [facts.filter(fact => fact !== '').join(', ')]
}

/** What a worker of another system runs, and what it has no way to take. */
function foreignLines(foreign: WorkerDetail['abilities']['foreign']): string[] {
  if (foreign === undefined) return []
  const { dialect, types, uses, maxGpus } = foreign
  const of = (trust: string) =>
    Object.keys(types)
      .filter(type => types[type] === trust)
      .toSorted()
      .join(', ')
  const facts = [
    `speaks ${dialect}: runs ${of('verified') || 'nothing for sure'}`,
    of('unverified') === '' ? '' : `unverified: ${of('unverified')}`,
    `cannot take ${USES.filter(use => !uses.includes(use)).join(', ')}`,
    `at most ${maxGpus} GPU${maxGpus === 1 ? '' : 's'} a job`,
  ]
  return [facts.filter(fact => fact !== '').join('; ')]
}

/** Which programs run there, and why not the others. */
function typeLines(types: WorkerDetail['abilities']['types'] = {}): string[] {
  const named = (wanted: string) => Object.entries(types).filter(([, { state }]) => state === wanted)
  const able = (['ready', 'installable'] as const).flatMap(state => {
    const found = named(state).map(([type]) => type)
    return found.length === 0 ? [] : [`${state}: ${found.join(', ')}`]
  })
  return [...able, ...named('impossible').map(([type, { reason }]) => `no ${type}: ${reason ?? 'unknown'}`)]
}

function isolationText(abilities: WorkerDetail['abilities']): string {
  const kinds = [abilities.sandbox ? 'sandboxed' : '', abilities.unsandboxed ? 'unsandboxed allowed' : '']
  return kinds.filter(kind => kind !== '').join(', ') || 'none allowed'
}

function workerColumns(paper: Paper): Column<Worker>[] {
  return [
    { title: 'NAME', cell: worker => worker.name, shrinkTo: 8 },
    { title: 'STATE', cell: worker => worker.state, paint: (text, worker) => paintState(worker, text, paper) },
    { title: 'JOBS', cell: worker => `${worker.running}/${worker.maxJobs}` },
    { title: 'GPUS', cell: gpusOf },
    { title: 'CPUS', cell: worker => `${worker.cpus.claimed}/${worker.cpus.total}`, importance: 3 },
    {
      title: 'MEMORY',
      cell: ({ memoryBytes }) => `${formatSize(memoryBytes.claimed)}/${formatSize(memoryBytes.total)}`,
      importance: 2,
    },
    {
      title: 'ENGINE',
      cell: ({ engine }) => (engine === null ? '-' : `${engine.name} ${engine.version}`),
      importance: 6,
    },
    { title: 'DIALECT', cell: worker => worker.dialect, importance: 7 },
    { title: 'TAGS', cell: worker => worker.tags.join(' '), shrinkTo: 4, importance: 4 },
    {
      title: 'SEEN',
      cell: worker => (worker.lastSeenAt === null ? 'never' : ago(worker.lastSeenAt, paper.now)),
      importance: 5,
    },
    { title: 'ID', cell: worker => shortId(worker.id), importance: 1 },
  ]
}

function gpusOf(worker: Worker): string {
  const out = worker.gpus.out === 0 ? '' : ` ${worker.gpus.out} out`
  return `${worker.gpus.claimed}/${worker.gpus.total}${worker.simulated ? ' simulated' : ''}${out}`
}

function paintState(worker: Worker, text: string, { color }: Paper): string {
  if (worker.state === 'ready') return color.green(text)
  return worker.state === 'away' ? color.red(text) : color.yellow(text)
}

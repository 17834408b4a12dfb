import { formatSize, parseSize } from '../quantity.ts'
import { type ConfigNotes, countAt, isMap, mapAt, refuse, shown } from './config-notes.ts'
import type { ProjectResources } from './project.ts'

const GIB = 2 ** 30
const MIB = 2 ** 20
const KEYS = ['gpu', 'cpu', 'memory']
export const USUAL: ProjectResources = { gpus: 1, cpus: 2, memoryBytes: 4 * GIB }

/** `gpu: 1`, `gpu: true` and `gpu: {count: 1}` alike; `usual` is what a missing key means. */
export function readResources(
  notes: ConfigNotes,
  value: unknown,
  path: string,
  usual: ProjectResources,
): ProjectResources {
  const { gpu, cpu, memory } = mapAt(notes, value, path, KEYS)
  return {
    gpus: gpuCount(notes, inner(notes, gpu, `${path}.gpu`, 'count')) ?? usual.gpus,
    cpus: cpuCount(notes, inner(notes, cpu, `${path}.cpu`, 'cores')) ?? usual.cpus,
    memoryBytes: memoryBytes(notes, memory, `${path}.memory`) ?? usual.memoryBytes,
  }
}

interface Given {
  readonly value: unknown
  readonly path: string
}

function inner(notes: ConfigNotes, value: unknown, path: string, key: string): Given {
  if (!isMap(value)) return { value, path }
  return { value: mapAt(notes, value, path, [key])[key], path: `${path}.${key}` }
}

function gpuCount(notes: ConfigNotes, { value, path }: Given): number | null {
  return typeof value === 'boolean' ? Number(value) : countAt(notes, value, path)
}

function cpuCount(notes: ConfigNotes, { value, path }: Given): number | null {
  if (value === undefined || value === null) return null
  const cpus = typeof value === 'string' ? Number(value.trim() || Number.NaN) : value
  if (typeof cpus === 'number' && cpus > 0 && cpus <= 4096) return cpus
  return refuse(notes, path, value, 'a number of CPUs above 0')
}

function memoryBytes(notes: ConfigNotes, given: unknown, path: string): number | null {
  if (isMap(given)) {
    const { total_gb: gb } = mapAt(notes, given, path, ['total_gb'])
    if (gb === undefined) return null
    const amount = Number(gb)
    if (amount > 0 && amount < MIB) return Math.round(amount * GIB)
    return refuse(notes, `${path}.total_gb`, gb, 'a number of gigabytes above 0')
  }
  if (given === undefined || given === null) return null
  const isBare = typeof given === 'number' || (typeof given === 'string' && /^\s*\d+(\.\d+)?\s*$/.test(given))
  if (isBare) return bareMemory(notes, Number(given), path)
  const bytes = typeof given === 'string' ? parseSize(given) : null
  return bytes === null || bytes === 0 ? refuse(notes, path, given, 'a size like "4Gi", "512Mi" or "8GB"') : bytes
}

/** Nobody asks for four bytes: small numbers are gigabytes, larger ones megabytes, and how one was read is told. */
function bareMemory(notes: ConfigNotes, amount: number, path: string): number | null {
  if (!(amount > 0) || amount > Number.MAX_SAFE_INTEGER) return refuse(notes, path, amount, 'a size like "4Gi"')
  const unit = amount < 1024 ? GIB : amount < MIB ? MIB : 1
  const bytes = Math.round(amount * unit)
  notes.warnings.push(`${path}: ${shown(amount)} has no unit and was read as ${formatSize(bytes)}`)
  return bytes
}

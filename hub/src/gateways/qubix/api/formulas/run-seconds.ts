import { gpuModelOf } from '../../gpu-model.ts'
import type { Confidence } from './analyze-source.ts'
import type { JobKind } from './job-kind.ts'

/** Seconds of the ordinary piece of work of each kind, by model. */
const BENCHMARKS: Readonly<Partial<Record<JobKind, Readonly<Record<string, number>>>>> = {
  mnist_training: {
    'RTX 4090': 120,
    'RTX 4080': 150,
    'RTX 3090': 180,
    'RTX 3080': 220,
    'RTX 3070': 280,
    'RTX 3060': 350,
  },
  stable_diffusion: { 'RTX 4090': 300, 'RTX 4080': 400, 'RTX 3090': 450, 'RTX 3080': 550, 'RTX 3070': 700 },
  inference: { 'RTX 4090': 60, 'RTX 4080': 80, 'RTX 3090': 100, 'RTX 3080': 120, 'RTX 3070': 150 },
  custom_script: { 'RTX 4090': 600, 'RTX 4080': 750, 'RTX 3090': 900, 'RTX 3080': 1100, 'RTX 3070': 1400 },
}
const WITHOUT_BENCHMARK: Readonly<Record<JobKind, number>> = {
  mnist_training: 300,
  stable_diffusion: 600,
  inference: 120,
  rendering: 900,
  custom_script: 1200,
  other: 1200,
}
const ORDINARY = { epochs: 5, items: 10_000, pixels: 512 * 512, steps: 50 }
/** Fewer runs tell little. */
const ENOUGH_RUNS = 5
const UNSURE = { least: 0.7, most: 1.3 }

/** How much work a job asks for beside the ordinary. */
export interface Scale {
  readonly factor: number
  /** So far from the ordinary that the time is a bold guess. */
  readonly isFar: boolean
}

export interface RunEstimate {
  readonly seconds: number
  readonly confidence: Confidence
  readonly range: { readonly min: number; readonly max: number }
  readonly basis: 'measured' | 'benchmark' | 'default'
}

/** More epochs, items, images and steps take longer in proportion, a larger picture by its area. */
export function scaleOf(kind: JobKind, input: Readonly<Record<string, unknown>>): Scale {
  if (kind === 'mnist_training') {
    const epochs = ratio(input.epochs, ORDINARY.epochs)
    const items = ratio(input.dataset_size ?? input.datasetSize, ORDINARY.items)
    return { factor: epochs * items, isFar: isOff(epochs, 0.5) || isOff(items, 0.5) }
  }
  if (kind !== 'stable_diffusion') return { factor: 1, isFar: false }
  const area = pixelsOf(input) / ORDINARY.pixels
  const rest = ratio(input.num_images, 1) * ratio(input.steps, ORDINARY.steps)
  return { factor: area * rest, isFar: isOff(area, 1) }
}

/** `measured` are seconds of runs on such a GPU, each as if it had been the ordinary piece of work. */
export function estimateRun(
  kind: JobKind,
  gpu: string | null,
  { factor, isFar }: Scale,
  measured: readonly number[] = [],
): RunEstimate {
  const [seconds, basis] = ordinarySeconds(kind, gpu, measured)
  const scaled = Math.ceil(seconds * factor)
  if (basis !== 'default') {
    const confidence = isFar ? 'medium' : 'high'
    return { seconds: scaled, confidence, range: { min: scaled, max: scaled }, basis }
  }
  const range = { min: Math.floor(scaled * UNSURE.least), max: Math.ceil(scaled * UNSURE.most) }
  return { seconds: scaled, confidence: 'low', range, basis }
}

function ordinarySeconds(
  kind: JobKind,
  gpu: string | null,
  measured: readonly number[],
): [number, RunEstimate['basis']] {
  if (measured.length >= ENOUGH_RUNS) return [median(measured), 'measured']
  const table = BENCHMARKS[kind] ?? {}
  const model = gpu === null ? '' : gpuModelOf(gpu)
  const known = Object.hasOwn(table, model) ? table[model] : undefined
  return known === undefined ? [WITHOUT_BENCHMARK[kind], 'default'] : [known, 'benchmark']
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2
}

function pixelsOf({ width, height, resolution }: Readonly<Record<string, unknown>>): number {
  const side = positive(resolution) ?? 512
  return (positive(width) ?? side) * (positive(height) ?? side)
}

function ratio(value: unknown, ordinary: number): number {
  return (positive(value) ?? ordinary) / ordinary
}

function positive(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 && value <= 1e9 ? value : null
}

function isOff(factor: number, most: number): boolean {
  return Math.abs(factor - 1) > most
}

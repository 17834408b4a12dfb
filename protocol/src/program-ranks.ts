import type { JobSpec } from './job-spec.ts'

/** What a job takes and in how many processes it works. */
export interface SharedWork {
  readonly gpus: number
  readonly ranks: JobSpec['ranks']
}

/**
 * A program that can share its work does so over all GPUs of its job, unless the job says otherwise: by `ranks`, or in
 * its input or the `training` of it by `nproc_per_node` (never more than it has GPUs, any number without) and
 * `allow_multi_gpu: false`, which takes one GPU and no more.
 */
export function sharedWork(spec: JobSpec, gpus: number, canShare: boolean): SharedWork {
  const { allow_multi_gpu: mayShare, nproc_per_node: wanted } = optionsOf(spec.input)
  const taken = mayShare === false ? Math.min(1, gpus) : gpus
  if (spec.ranks !== null || spec.session !== null || !canShare) return { gpus: taken, ranks: spec.ranks }
  if (!isCount(wanted)) return { gpus: taken, ranks: taken > 1 ? 'gpus' : null }
  const count = taken > 0 ? Math.min(wanted, taken) : wanted
  return { gpus: taken, ranks: count > 1 ? count : null }
}

function optionsOf(input: JobSpec['input']): Readonly<Record<string, unknown>> {
  const { training } = input as Readonly<Record<string, unknown>>
  const isInner = typeof training === 'object' && training !== null && !Array.isArray(training)
  return { ...input, ...(isInner ? training : {}) }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}

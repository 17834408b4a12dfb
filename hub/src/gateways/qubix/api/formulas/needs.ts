import type { JobKind } from './job-kind.ts'

export type Framework = 'pytorch' | 'tensorflow' | 'jax' | 'none'

/** What a job is thought to need; gigabytes and TFLOPS. */
export interface Needs {
  readonly vramGb: number
  readonly tflops: number
  readonly ramGb: number
  readonly storageGb: number
}

const TABLE: Readonly<Record<JobKind, Needs>> = {
  mnist_training: { vramGb: 4, tflops: 5, ramGb: 8, storageGb: 2 },
  stable_diffusion: { vramGb: 12, tflops: 15, ramGb: 16, storageGb: 10 },
  inference: { vramGb: 6, tflops: 8, ramGb: 8, storageGb: 5 },
  rendering: { vramGb: 8, tflops: 10, ramGb: 16, storageGb: 20 },
  custom_script: { vramGb: 8, tflops: 10, ramGb: 16, storageGb: 10 },
  other: { vramGb: 8, tflops: 10, ramGb: 16, storageGb: 10 },
}
const FACTORS: Readonly<Record<Framework, number>> = { pytorch: 1, none: 1, tensorflow: 1.2, jax: 1.1 }

/** The table, more of it for hungry frameworks; what someone knows better can only raise a need. */
export function needsOf(kind: JobKind, framework: Framework, known: Partial<Needs> = {}): Needs {
  const { vramGb, tflops, ramGb, storageGb } = TABLE[kind]
  const more = (need: number): number => Math.ceil(Number((need * FACTORS[framework]).toFixed(6)))
  return {
    vramGb: Math.max(more(vramGb), known.vramGb ?? 0),
    tflops: Math.max(more(tflops), known.tflops ?? 0),
    ramGb: Math.max(more(ramGb), known.ramGb ?? 0),
    storageGb: Math.max(storageGb, known.storageGb ?? 0),
  }
}

import type { JobRow } from '@stoker/protocol'

/** What this dialect knows of a job beyond its spec is in its labels, so that it is there after every restart. */
export const JOB_LABELS = {
  dialect: 'dialect',
  /** The type as its customer wrote it. */
  type: 'qubix.type',
  /** Hours. */
  computeNeeded: 'qubix.compute_needed',
  user: 'qubix.user',
  maxPrice: 'qubix.max_price',
  budget: 'qubix.budget',
  escrow: 'qubix.escrow',
  estimatedCost: 'qubix.estimated_cost',
} as const

const DIALECT = 'qubix'

export interface JobNote {
  readonly type: string
  readonly computeNeeded: number
  readonly user?: string | undefined
  readonly maxPrice?: number | undefined
  readonly budget?: number | undefined
  readonly escrow?: string | undefined
  readonly estimatedCost?: number | undefined
}

export function labelsOf(note: JobNote): Record<string, string> {
  const labels: Record<string, string> = { [JOB_LABELS.dialect]: DIALECT }
  for (const [key, value] of Object.entries(note))
    if (value !== undefined) labels[JOB_LABELS[key as keyof JobNote]] = String(value)
  return labels
}

/** A job that came another way is of its own type; how many hours it was meant to take nobody said. */
export function noteOf({ labels, type }: Pick<JobRow, 'labels' | 'type'>): Omit<JobNote, 'computeNeeded'> & {
  readonly computeNeeded: number | undefined
} {
  const known: Readonly<Record<string, string>> = labels === null ? {} : JSON.parse(labels)
  const figure = (key: string): number | undefined => (known[key] === undefined ? undefined : Number(known[key]))
  return {
    type: known[JOB_LABELS.type] ?? type,
    computeNeeded: figure(JOB_LABELS.computeNeeded),
    user: known[JOB_LABELS.user],
    maxPrice: figure(JOB_LABELS.maxPrice),
    budget: figure(JOB_LABELS.budget),
    escrow: known[JOB_LABELS.escrow],
    estimatedCost: figure(JOB_LABELS.estimatedCost),
  }
}

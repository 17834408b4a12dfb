import type { JobSpec } from '@stoker/protocol'
import { JOB_LABELS } from './api/job-labels.ts'
import type { Variant } from './provider-note.ts'

/** As old workers read it: nothing in it is ever null. */
export interface JobObject {
  readonly id: string
  readonly jobType: string
  readonly modelType: string
  readonly computeNeeded: number
  readonly inputData: Readonly<Record<string, unknown>>
  readonly status: 'ASSIGNED'
}

/** The simple worker makes ten steps of it. */
const ORDINARY_COMPUTE = 1

/** A job in the words of the dialect, or why no such worker could do it as it was asked for. */
export function jobObject(id: string, spec: JobSpec, variant: Variant): JobObject | { readonly impossible: string } {
  const { epochs, ...rest } = spec.input
  const compute = Number(spec.labels[JOB_LABELS.computeNeeded])
  if (epochs !== undefined && epochs !== null && !(typeof epochs === 'number' && epochs >= 1))
    return { impossible: `input.epochs is ${JSON.stringify(epochs)}, a QUBIX worker needs a number of at least 1` }
  return {
    id,
    jobType: spec.type,
    modelType: spec.type,
    computeNeeded: compute > 0 && Number.isFinite(compute) ? compute : ORDINARY_COMPUTE,
    inputData: withoutNulls({ ...rest, epochs, ...(variant === 'capable' ? limitsOf(spec) : {}) }),
    status: 'ASSIGNED',
  }
}

/** Only our own workers honour these. */
function limitsOf({ env, timeoutMs, network }: JobSpec): Record<string, unknown> {
  return {
    env: Object.keys(env).length === 0 ? null : env,
    timeoutSeconds: timeoutMs === null ? null : timeoutMs / 1000,
    network,
  }
}

function withoutNulls(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null && value !== undefined))
}

import { z } from 'zod'
import type { Json } from '../../engine/state.ts'
import type { RegisterBody } from './bodies.ts'

/** How a worker behaves: `simple` gets jobs by heartbeats only, `enhanced` also asks by itself, `capable` is one of ours that says what it can do. */
const VARIANTS = ['simple', 'enhanced', 'capable'] as const
export type Variant = (typeof VARIANTS)[number]

const text = z.string().nullable()
const amount = z.number().nullable()

const Machine = z.object({
  hostname: text,
  os: text,
  cpuModel: text,
  cores: amount,
  ramGb: amount,
  diskGb: amount,
  diskFreeGb: amount,
  gpus: z.array(z.object({ index: z.number(), model: z.string(), vramGb: z.number() })),
})
type Machine = Readonly<z.infer<typeof Machine>>

/** What the gateway remembers of a worker through restarts of the hub: these workers do not register again. */
export const ProviderNote = z.object({
  workerId: z.string(),
  name: text,
  address: text,
  location: text,
  /** As its owner said it; nobody is paid by it here. */
  pricePerHour: amount,
  computePower: amount,
  /** Null: it never registered here. */
  machine: Machine.nullable(),
  variant: z.enum(VARIANTS).nullable(),
  /** It registered since the variant was seen: its next heartbeat tells anew. */
  isVariantOpen: z.boolean(),
  capabilities: z.array(z.string()),
  /** Its measurements agree with the card that it would also name without having one. */
  isGpuSeen: z.boolean(),
  /** It has just reported an end: it does not read the answer to its next heartbeat. */
  discardsNext: z.boolean(),
  /** Another machine registered under the same id while this one had a job. */
  secondHost: text,
  /** A failure to report that may still turn out to be a success. */
  held: z.object({ job: z.number(), epoch: z.number(), attempt: z.number(), error: z.string() }).nullable(),
})
export type ProviderNote = Readonly<z.infer<typeof ProviderNote>>

export function freshNote(workerId: string): ProviderNote {
  return {
    workerId,
    name: null,
    address: null,
    location: null,
    pricePerHour: null,
    computePower: null,
    machine: null,
    variant: null,
    isVariantOpen: true,
    capabilities: [],
    isGpuSeen: false,
    discardsNext: false,
    secondHost: null,
    held: null,
  }
}

/** Null: nothing is remembered, or not in a form that is still understood. */
export function readNote(note: Json): ProviderNote | null {
  return ProviderNote.safeParse(note).data ?? null
}

export function withRegistration(note: ProviderNote, body: RegisterBody): ProviderNote {
  const isCapable = body.capabilities !== undefined
  return {
    ...note,
    name: body.name || null,
    address: body.address || null,
    location: body.location || null,
    pricePerHour: body.pricePerHour ?? null,
    computePower: body.computePower ?? null,
    machine: machineOf(body),
    variant: isCapable ? 'capable' : note.variant === 'capable' ? null : note.variant,
    isVariantOpen: !isCapable,
    capabilities: body.capabilities ?? [],
    isGpuSeen: false,
    // A process that has just begun reads every answer.
    discardsNext: false,
    secondHost: null,
  }
}

function machineOf({ specs, gpus }: RegisterBody): Machine | null {
  if (specs === undefined) return null
  return {
    hostname: specs.hostname || null,
    os: specs.os || null,
    cpuModel: specs.cpu_model || null,
    cores: specs.cpu_cores,
    ramGb: specs.ram_total_gb,
    diskGb: specs.storage_total_gb,
    diskFreeGb: specs.storage_free_gb,
    gpus:
      gpus?.map(({ index, model, vram_gb }) => ({ index, model, vramGb: vram_gb ?? 0 })) ??
      (specs.gpu_available && specs.gpu_model
        ? [{ index: 0, model: specs.gpu_model, vramGb: specs.gpu_vram_gb ?? 0 }]
        : []),
  }
}

/** The first heartbeat tells: only the simple worker says how much memory is used. Only the enhanced one ever polls. */
export function variantSeen(note: ProviderNote, sign: { readonly saysRamUsed: boolean } | 'polls'): ProviderNote {
  if (note.variant === 'capable') return note
  if (sign === 'polls')
    return note.variant === 'enhanced' ? note : { ...note, variant: 'enhanced', isVariantOpen: false }
  if (!note.isVariantOpen) return note
  return { ...note, variant: sign.saysRamUsed ? 'simple' : 'enhanced', isVariantOpen: false }
}

import { z } from 'zod'

const GIB = 2 ** 30
const MAX_CPUS = 4096
const MAX_GPUS = 64
const MAX_JOBS = 256
/** Below this a node never gives a GPU to a job. */
const SMALLEST_GPU_MB = 4096

const text = (max: number) =>
  z
    .string()
    .transform(found => found.replace(/\p{Cc}/gu, ' ').slice(0, max))
    .catch('')
const whole = (min: number, max: number, otherwise: number) => z.int().min(min).max(max).catch(otherwise)
const size = (max: number) => z.number().min(0).max(max).catch(0)

const ToldGpu = z.object({ gpu_id: whole(0, 1000, -1), name: text(200), memory_mb: whole(0, 1e8, 0) })
const WorkerInfo = z.object({
  worker_id: z.unknown(),
  hostname: text(200),
  platform: text(50),
  python_version: text(200),
  cpu_count: whole(1, MAX_CPUS, 1),
  memory_total_gb: size(1e6),
  disk_total_gb: size(1e9),
  gpus: z.array(ToldGpu).max(MAX_GPUS).catch([]),
})
const Nested = z.object({
  worker_info: WorkerInfo,
  capabilities: z
    .object({ max_concurrent_jobs: whole(1, MAX_JOBS, 1), supports_docker: z.boolean().catch(false) })
    .catch({ max_concurrent_jobs: 1, supports_docker: false }),
})
const Flat = z.object({
  worker_id: z.unknown(),
  worker_type: text(100),
  platform: text(100),
  location: text(100),
  gpu_available: z.boolean().catch(true),
  gpu_name: text(200),
  gpu_memory_gb: size(1e4),
  capabilities: z
    .object({ gpu_count: whole(0, MAX_GPUS, -1), max_memory_gb: size(1e6) })
    .catch({ gpu_count: -1, max_memory_gb: 0 }),
})

/** What a worker says of itself, as far as it can be read; kept as it is in the hub's memory of the worker. */
export const Registration = z.object({
  /** `node` polls for jobs, `flat` claims them, `adopted` was heard before it registered. */
  kind: z.enum(['node', 'flat', 'adopted']),
  hostname: z.string(),
  platform: z.string(),
  python: z.string(),
  /** Null: nobody said. */
  cpus: z.number().nullable(),
  memoryMb: z.number(),
  diskBytes: z.number(),
  gpus: z.array(z.object({ index: z.number(), name: z.string(), memoryMb: z.number() })),
  /** Devices too small for a node to use. */
  smallGpus: z.number(),
  maxJobs: z.number(),
  docker: z.boolean(),
  label: z.string(),
})
export type Registration = Readonly<z.infer<typeof Registration>>

const NOTHING: Registration = {
  kind: 'adopted',
  hostname: '',
  platform: '',
  python: '',
  cpus: null,
  memoryMb: 0,
  diskBytes: 0,
  gpus: [],
  smallGpus: 0,
  maxJobs: 1,
  docker: false,
  label: '',
}

/** One slot and no GPU, until the worker says more. */
export const ADOPTED = NOTHING

/** A body with `worker_info` is a node's, one with `worker_id` at its top a notebook's; null is neither. */
export function readRegistration(body: unknown): { readonly id: unknown; readonly told: Registration } | null {
  const nested = Nested.safeParse(body)
  if (nested.success) return { id: nested.data.worker_info.worker_id, told: ofNode(nested.data) }
  const flat = Flat.safeParse(body)
  if (flat.success && flat.data.worker_id !== undefined) return { id: flat.data.worker_id, told: ofNotebook(flat.data) }
  return null
}

function ofNode({ worker_info: info, capabilities }: z.output<typeof Nested>): Registration {
  const listed = info.gpus.map(({ gpu_id, name, memory_mb }, place) => ({
    index: gpu_id < 0 ? place : gpu_id,
    name,
    memoryMb: memory_mb,
  }))
  const gpus = listed.filter(({ memoryMb }) => memoryMb >= SMALLEST_GPU_MB)
  return {
    ...NOTHING,
    kind: 'node',
    hostname: info.hostname,
    platform: info.platform,
    python: info.python_version,
    cpus: info.cpu_count,
    memoryMb: Math.floor((info.memory_total_gb * GIB) / 1e6),
    diskBytes: Math.floor(info.disk_total_gb * GIB),
    gpus,
    smallGpus: listed.length - gpus.length,
    maxJobs: capabilities.max_concurrent_jobs,
    docker: capabilities.supports_docker,
  }
}

function ofNotebook(told: z.output<typeof Flat>): Registration {
  const { gpu_count: said, max_memory_gb } = told.capabilities
  const named = told.gpu_available && told.gpu_name !== '' ? 1 : 0
  const count = said < 0 ? named : said
  const memoryMb = Math.floor(told.gpu_memory_gb * 1024)
  return {
    ...NOTHING,
    kind: 'flat',
    memoryMb: Math.floor((max_memory_gb * GIB) / 1e6),
    gpus: Array.from({ length: count }, (_, index) => ({ index, name: told.gpu_name, memoryMb })),
    label: [told.worker_type, told.platform, told.location].filter(word => word !== '').join(', '),
  }
}

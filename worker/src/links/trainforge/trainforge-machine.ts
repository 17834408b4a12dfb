import type { DeviceNews, Gpu, GpuSample, Hardware, HostSample, WorkerStatus } from '@stoker/protocol'
import type { Taken } from '../foreign/places.ts'

const GIB = 2 ** 30

export interface Node {
  readonly workerId: string
  readonly hardware: Hardware
  readonly maxJobs: number
}

/** What a node tells of its machine. */
function workerInfo({ workerId, hardware }: Node) {
  return {
    worker_id: workerId,
    hostname: hardware.hostname,
    platform: process.platform,
    python_version: hardware.pythons[0]?.version ?? '',
    cpu_count: hardware.cores,
    memory_total_gb: hardware.memoryBytes / GIB,
    disk_total_gb: hardware.disk.totalBytes / GIB,
    gpu_count: hardware.gpus.length,
    gpus: hardware.gpus.map(({ index, name, memoryMb }) => ({ gpu_id: index, name, memory_mb: memoryMb })),
  }
}

/** A superset that schedulers of either form read. Jobs run as processes here, so nobody is told of containers. */
export function registerBody(node: Node) {
  const { workerId, hardware, maxJobs } = node
  const [gpu] = hardware.gpus
  const info = workerInfo(node)
  return {
    worker_id: workerId,
    status: 'idle',
    worker_type: 'stoker',
    location: hardware.hostname,
    platform: info.platform,
    gpu_available: gpu !== undefined,
    gpu_name: gpu?.name ?? null,
    gpu_memory_gb: gpu === undefined ? 0 : gpu.memoryMb / 1024,
    worker_info: info,
    capabilities: {
      max_concurrent_jobs: maxJobs,
      supports_gpu: gpu !== undefined,
      supports_docker: false,
      gpu_count: hardware.gpus.length,
      gpu_info: info.gpus,
      max_memory_gb: info.memory_total_gb,
    },
  }
}

export interface Load {
  readonly host: HostSample
  readonly loadAverage: readonly number[]
  readonly samples: readonly GpuSample[]
  readonly devices: readonly DeviceNews[]
  readonly taken: readonly (Taken & { readonly id: string })[]
  readonly activeJobs: number
  readonly at: number
}

/** Everything in it was measured or is kept in our own books; what nobody knows is left out or null. */
function loadBody({ hardware }: Node, load: Load) {
  return {
    memory_usage: percent(load.host.memoryUsedBytes, load.host.memoryTotalBytes),
    load_average: load.loadAverage,
    cpu_status: cpuStatus(hardware, load),
    gpu_status: gpuStatus(hardware.gpus, load),
  }
}

export function heartbeatBody(node: Node, load: Load) {
  const { workerId, maxJobs } = node
  const at = { worker_id: workerId, timestamp: load.at / 1000 }
  return { ...at, active_jobs: load.activeJobs, max_jobs: maxJobs, ...loadBody(node, load) }
}

/** For `--status`: what the running node knows of itself. */
export function nodeStatus(node: Node, load: Load): NonNullable<WorkerStatus['node']> {
  const { memory_usage, cpu_status, gpu_status } = loadBody(node, load)
  const status = {
    ...{ worker_id: node.workerId, running: true, active_jobs: load.activeJobs, max_jobs: node.maxJobs },
    ...{ system_info: workerInfo(node), gpu_status, cpu_status, memory_usage },
  }
  return JSON.parse(JSON.stringify(status))
}

function cpuStatus({ cores, memoryBytes }: Hardware, { host, taken, loadAverage, activeJobs, at }: Load) {
  const allocated = Math.min(
    cores,
    taken.reduce((sum, one) => sum + one.cpus, 0),
  )
  const used = percent(host.memoryUsedBytes, host.memoryTotalBytes)
  return {
    total_cores: cores,
    available_cores: cores - allocated,
    allocated_cores: allocated,
    utilization_percent: percent(allocated, cores),
    total_memory_gb: memoryBytes / GIB,
    available_memory_gb: (host.memoryTotalBytes - host.memoryUsedBytes) / GIB,
    memory_utilization_percent: used,
    active_jobs: activeJobs,
    performance_impact: { status: 'insufficient_data' },
    current_metrics: {
      timestamp: at / 1000,
      cpu_usage_percent: host.cpuPercent,
      memory_usage_percent: used,
      load_average: loadAverage,
    },
    nodes: {},
  }
}

function gpuStatus(gpus: readonly Gpu[], { samples, taken, devices, activeJobs }: Load) {
  const seen = gpus.map(gpu => {
    const job = taken.find(({ uuids }) => uuids.includes(gpu.uuid))
    const news = devices.find(({ uuid }) => uuid === gpu.uuid)
    const sample = samples.find(({ uuid }) => uuid === gpu.uuid)
    return { gpu, sample, job, status: statusOf(job !== undefined, news) }
  })
  const total = gpus.reduce((sum, { memoryMb }) => sum + memoryMb, 0)
  const used = samples.reduce((sum, { memoryUsedMb }) => sum + (memoryUsedMb ?? 0), 0)
  const having = (status: string) => seen.filter(one => one.status === status).length
  return {
    total_gpus: gpus.length,
    available_gpus: having('available'),
    allocated_gpus: having('allocated'),
    busy_gpus: having('busy'),
    total_memory_mb: total,
    used_memory_mb: used,
    memory_utilization_percent: total === 0 ? 0 : percent(used, total),
    active_jobs: activeJobs,
    gpus: Object.fromEntries(seen.map(one => [String(one.gpu.index), gpuEntry(one)])),
  }
}

function statusOf(isTaken: boolean, news: DeviceNews | undefined): 'available' | 'allocated' | 'busy' | 'error' {
  if (news !== undefined && news.fault !== null) return 'error'
  if (isTaken) return 'allocated'
  return (news?.foreignMb ?? 0) > 0 ? 'busy' : 'available'
}

interface SeenGpu {
  readonly gpu: Gpu
  readonly sample: GpuSample | undefined
  readonly job: { readonly id: string } | undefined
  readonly status: string
}

function gpuEntry({ gpu, sample, job, status }: SeenGpu) {
  const used = sample?.memoryUsedMb ?? null
  return {
    gpu_id: gpu.index,
    name: gpu.name,
    memory_total_mb: gpu.memoryMb,
    memory_used_mb: used,
    memory_free_mb: used === null ? null : gpu.memoryMb - used,
    utilization_percent: sample?.utilization ?? null,
    temperature_celsius: sample?.temperatureC ?? null,
    power_usage_watts: sample?.powerW ?? null,
    status,
    allocated_to: job?.id ?? null,
    allocated_memory_mb: job === undefined ? 0 : gpu.memoryMb,
  }
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((10_000 * part) / whole) / 100
}

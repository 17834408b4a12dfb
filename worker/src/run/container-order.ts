import { type Container, fenceKey, type Gpu, type Offer } from '@stoker/protocol'
import type { ContainerOrder } from '../executors/port.ts'

/** Where a program in a container finds its model; an empty folder if it has none. */
export const MODELS_TARGET = '/models'
const SHORT_ID = 12
/** Ranks talk through shared memory; the 64 MiB of engines are not enough for those of GPUs. */
const RANKS_SHM_BYTES = 2 ** 30

export interface ContainerPlace {
  readonly engine: string
  readonly workerId: string
  readonly modelFolder: string
  /** Of the job. */
  readonly gpus: readonly Pick<Gpu, 'uuid' | 'index' | 'simulated'>[]
  /** Sources as they are behind all links. */
  readonly mounts: Container['mounts']
}

/** What the engine is asked for: the strictest container, and each relaxation the spec names. */
export function containerOrder(offer: Offer, container: Container, place: ContainerPlace): ContainerOrder {
  const { user, workdir, writableRoot, shmBytes, tmpBytes, image } = container
  const { resources, ranks } = offer.spec
  const { cpus } = resources
  return {
    engine: place.engine,
    image,
    name: containerName(offer),
    labels: labelsOf(offer, place),
    user,
    workdir,
    writableRoot,
    shmBytes: shmBytes ?? (ranks === null ? null : RANKS_SHM_BYTES),
    tmpBytes,
    cpus: cpus > 0 ? cpus : null,
    binds: [{ source: place.modelFolder, target: MODELS_TARGET, readOnly: true }, ...place.mounts],
    deviceIds: place.gpus.filter(gpu => !gpu.simulated).map(gpu => gpu.uuid),
  }
}

export function containerName({ id, spec }: Offer): string {
  return `gpu-${spec.session === null ? 'task' : 'session'}-${shortOf(id)}`
}

/** Time-ordered ids differ at their end. */
function shortOf(id: string): string {
  return id.replaceAll('-', '').slice(-SHORT_ID)
}

function labelsOf({ id, fence, spec }: Offer, { workerId, gpus }: ContainerPlace): Record<string, string> {
  const common = {
    'gpu-service.gpu_id': gpus.map(gpu => String(gpu.index)).join(','),
    'gpu-service.type': spec.session === null ? 'oneoff' : 'session',
    'stoker.worker_id': workerId,
    'stoker.job_id': id,
    'stoker.attempt': fenceKey(fence),
  }
  if (spec.session === null) return { 'gpu-service.task_id': id, ...common }
  return { 'gpu-service.session_id': id, 'gpu-service.model_id': spec.model?.name ?? '', ...common }
}

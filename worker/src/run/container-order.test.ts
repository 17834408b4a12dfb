import { type Container, type JobSpecInput, type Offer, parseJobSpec } from '@stoker/protocol'
import { describe, expect, it } from 'vitest'
import { containerName, containerOrder } from './container-order.ts'

const ID = '01890000-0000-7000-8000-00abcdef0123'
const PLACE = { engine: '/run/e.sock', workerId: 'w-1', modelFolder: '/data/none', gpus: [], mounts: [] }

function anOffer(spec: JobSpecInput): Offer & { readonly container: Container } {
  const parsed = parseJobSpec({ image: 'tool:v1', ...spec })
  if (!parsed.ok || parsed.spec.container === null) throw new Error(JSON.stringify(parsed))
  const fence = { job: 1, epoch: 2, attempt: 3 }
  return { fence, id: ID, spec: parsed.spec, gpus: [], container: parsed.spec.container }
}

describe('the order for a container', () => {
  it('is the strictest unless the spec relaxes it', () => {
    const offer = anOffer({ command: ['x'], resources: { cpus: 2 } })
    expect(containerOrder(offer, offer.container, PLACE)).toEqual({
      engine: '/run/e.sock',
      image: 'tool:v1',
      name: 'gpu-task-00abcdef0123',
      labels: {
        'gpu-service.task_id': ID,
        'gpu-service.gpu_id': '',
        'gpu-service.type': 'oneoff',
        'stoker.worker_id': 'w-1',
        'stoker.job_id': ID,
        'stoker.attempt': '1-2-3',
      },
      user: null,
      workdir: null,
      writableRoot: false,
      shmBytes: null,
      tmpBytes: 67_108_864,
      cpus: 2,
      binds: [{ source: '/data/none', target: '/models', readOnly: true }],
      deviceIds: [],
    })
  })

  it('names each relaxation', () => {
    const container = { user: 'root', workdir: 'image', writableRoot: true, shm: '1GiB', tmp: '2GiB' }
    const offer = anOffer({ container })
    expect(containerOrder(offer, offer.container, PLACE)).toMatchObject({
      ...{ user: 'root', workdir: 'image', writableRoot: true, shmBytes: 2 ** 30, tmpBytes: 2 ** 31 },
    })
  })

  it('has shared memory in which ranks can talk, as much as the job says where it does', () => {
    const shmOf = (more: JobSpecInput) => {
      const offer = anOffer({ command: ['x'], ranks: 2, ...more })
      return containerOrder(offer, offer.container, PLACE).shmBytes
    }
    expect([shmOf({}), shmOf({ container: { shm: '2GiB' } })]).toEqual([2 ** 30, 2 ** 31])
  })

  it('asks for exactly the devices of the job, never for simulated ones', () => {
    const gpus = [
      { uuid: 'GPU-b', index: 1, simulated: false },
      { uuid: 'SIM-0', index: 2, simulated: true },
    ]
    const offer = anOffer({})
    const order = containerOrder(offer, offer.container, { ...PLACE, gpus })
    expect([order.deviceIds, order.labels['gpu-service.gpu_id']]).toEqual([['GPU-b'], '1,2'])
  })

  it('is labelled as a session where the job is one', () => {
    const offer = anOffer({ session: {}, model: { name: 'llama' } })
    expect(containerName(offer)).toBe('gpu-session-00abcdef0123')
    expect(containerOrder(offer, offer.container, PLACE).labels).toMatchObject({
      'gpu-service.session_id': ID,
      'gpu-service.model_id': 'llama',
      'gpu-service.type': 'session',
    })
  })
})

import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { ChildProgram } from './child-program.ts'
import { GpuClient } from './gpu-client.ts'
import { House } from './house.ts'

const KEY = 'a-key-of-the-old-service'
/** What a worker says of its devices counts; of the others what the hub was told. */
const DIFFICULTIES = { hub: '0:high,1:high', worker: '0:low' }
const ENV = {
  INTERNAL_API_KEY: KEY,
  MAX_TASK_TIMEOUT: '600',
  CORS_ORIGINS: 'https://app.example',
  GPU_DEVICE_DIFFICULTY: DIFFICULTIES.hub,
}

export const ONE_OFF = { task_type: 'oneoff', task_difficulty: 'low', model_id: 'talk', task_preset: 'inference' }
export const SESSION = { task_type: 'session', task_difficulty: 'low', model_id: 'echo', task_preset: 'inference' }

/** A hub with the GPU-service API on a port of its own, presets of both forms, and a worker with two devices. */
export class GpuHouse {
  readonly house: House
  hub: ChildProgram
  client: GpuClient
  /** The same service below the prefix of the hub's own listener. */
  below: GpuClient

  private constructor(house: House, hub: ChildProgram, url: string) {
    this.house = house
    this.hub = hub
    this.client = new GpuClient(url, KEY)
    this.below = new GpuClient(`${house.url}/gpu`, KEY)
  }

  static async open(): Promise<GpuHouse> {
    const house = await House.open()
    await writePresets(house)
    const { hub, url } = await startHub(house, 0)
    await house.startWorker('w', {
      args: ['--simulate-gpus', '2x24GB', '--max-jobs', '8'],
      env: { GPU_DEVICE_DIFFICULTY: DIFFICULTIES.worker },
    })
    return new GpuHouse(house, hub, url)
  }

  get port(): number {
    return Number(new URL(this.client.url).port)
  }

  /** On the port it had. */
  async restartHub(): Promise<void> {
    const { hub, url } = await startHub(this.house, this.port)
    this.hub = hub
    this.client = new GpuClient(url, KEY)
    this.below = new GpuClient(`${this.house.url}/gpu`, KEY)
  }

  /** Both devices are free again: nothing of a test is left. */
  async allFree(): Promise<void> {
    await expect.poll(async () => (await this.client.call('/health/resources')).json.capacity.available_gpus).toBe(2)
  }
}

async function startHub(house: House, port: number): Promise<{ hub: ChildProgram; url: string }> {
  const args = ['--presets', house.path('presets'), '--gpu-service', String(port)]
  const hub = await house.startHub({ env: ENV, args })
  return { hub, url: String((await hub.ready()).gpuService) }
}

async function writePresets(house: House): Promise<void> {
  for (const name of ['gpu_talk.py', 'gpu_echo.py'])
    await copyFile(fileURLToPath(new URL(`./${name}`, import.meta.url)), house.path(name))
  await mkdir(house.path('presets'))
  const program = (name: string) => ({ command: ['python3', house.path(name)], isolation: 'none' })
  const talk = program('gpu_talk.py')
  const models = {
    talk: {
      inference: talk,
      short: { ...talk, timeout_seconds: 1, metadata: { mode: 'hang' } },
      cpu: { ...talk, resources: { gpus: 0, cpus: 0.1 } },
    },
    echo: { inference: { ...program('gpu_echo.py'), type: 'session', session: { queue: 1 } } },
  }
  const write = (name: string, content: object) => writeFile(house.path('presets', name), JSON.stringify(content))
  await write('model_presets.yaml', { models })
  await write('task_definitions.yaml', { greet: { task_difficulty: 'high' } })
  await write('task_actions.yaml', { greet: talk })
}

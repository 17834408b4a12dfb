import { expect, it } from 'vitest'
import { keeperContainer } from './container-request.ts'
import type { ContainerOrder, LaunchOrder } from './port.ts'

const CONTAINER: ContainerOrder = {
  engine: '/run/engine.sock',
  image: 'loading-worker:latest',
  name: 'gpu-task-0123456789ab',
  labels: { 'stoker.worker_id': 'w' },
  user: null,
  workdir: null,
  writableRoot: false,
  shmBytes: null,
  tmpBytes: 64 << 20,
  cpus: null,
  binds: [],
  deviceIds: [],
}
const ROOT = { uid: 0, gid: 0 }

function request(
  changes: Partial<ContainerOrder> = {},
  order: Partial<LaunchOrder> = {},
  worker: { uid: number; gid: number } = ROOT,
) {
  const container = { ...CONTAINER, ...changes }
  const limits = { cpuShare: null, memoryBytes: null, pids: 255, diskBytes: null }
  const basics = { key: 'a-1', folder: '/attempts/a', argv: [], env: {}, stdin: null, isolation: 'container' } as const
  const ends = { network: 'none', deadlineMs: null, graceMs: 0, outputLimitBytes: 1, limits, secrets: null } as const
  return keeperContainer({ ...basics, ...ends, devices: [], visiblePaths: [], container, ...order }, worker)
}

it('asks for a hardened container as nobody, in the work folder', () => {
  const order = { argv: ['python', '/app/worker.py'], env: { MODEL_NAME: 'm' } }
  expect(request({}, order)).toEqual({
    engine: '/run/engine.sock',
    name: 'gpu-task-0123456789ab',
    secretsAt: '/run/secrets',
    request: {
      Image: 'loading-worker:latest',
      Cmd: ['python', '/app/worker.py'],
      User: '65534:65534',
      WorkingDir: '/work',
      Env: ['MODEL_NAME=m', 'STOKER_ATTEMPT=a-1'],
      Labels: { 'stoker.worker_id': 'w', 'stoker.attempt': 'a-1' },
      Hostname: 'job',
      AttachStdout: true,
      AttachStderr: true,
      HostConfig: {
        PidsLimit: 256,
        NetworkMode: 'none',
        Init: true,
        AutoRemove: false,
        ReadonlyRootfs: true,
        Tmpfs: { '/tmp': 'rw,noexec,nosuid,nodev,size=67108864' },
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        LogConfig: { Type: 'none', Config: {} },
        Mounts: [{ Type: 'bind', Source: '/attempts/a/work', Target: '/work', ReadOnly: false }],
      },
    },
  })
})

it('passes limits on: no swap beyond memory, a hard quota, a weight', () => {
  const limits = { cpuShare: 20, memoryBytes: 1 << 30, pids: 10, diskBytes: null }
  expect(request({ cpus: 1.5, shmBytes: 1 << 20 }, { limits }).request.HostConfig).toMatchObject({
    Memory: 1 << 30,
    MemorySwap: 1 << 30,
    CpuPeriod: 100_000,
    CpuQuota: 150_000,
    CpuShares: 2040,
    ShmSize: 1 << 20,
    PidsLimit: 11,
  })
})

it('leaves what was relaxed to the image: its command, folder, user and root', () => {
  const { request: body } = request({ workdir: 'image', user: '0:0', writableRoot: true })
  expect(body).not.toHaveProperty('Cmd')
  expect(body).not.toHaveProperty('WorkingDir')
  expect(body).toMatchObject({ User: '0:0', HostConfig: { ReadonlyRootfs: false } })
})

it('names GPUs by id, and a count with them is zero because the two exclude each other', () => {
  expect(request().request.HostConfig).not.toHaveProperty('DeviceRequests')
  expect(request({ deviceIds: ['GPU-1'] }).request.HostConfig).toMatchObject({
    DeviceRequests: [{ Driver: '', Count: 0, DeviceIDs: ['GPU-1'], Capabilities: [['gpu']] }],
  })
})

it('is the worker itself where that is not root, and names the networks as engines do', () => {
  expect(request({}, {}, { uid: 1000, gid: 1001 }).request.User).toBe('1000:1001')
  expect(request({}, { network: 'internet' }).request.HostConfig.NetworkMode).toBe('bridge')
  expect(request({}, { network: 'host' }).request.HostConfig.NetworkMode).toBe('host')
})

it('tells where secrets are, never what they are', () => {
  const secrets = { files: [{ name: 'KEY', value: 'c2VjcmV0' }], hidden: [], memoryFolder: '/dev/shm' }
  const order = request({}, { secrets })
  expect(order.request.Env).toContain('STOKER_SECRETS=/run/secrets')
  expect(JSON.stringify(order)).not.toContain('c2VjcmV0')
})

import { resolve } from 'node:path'
import type { KeeperContainer } from './keeper-wire.ts'
import type { ContainerOrder, LaunchOrder } from './port.ts'

const SECRETS = '/run/secrets'
/** Nobody and no group, in every image. */
const NOBODY = '65534:65534'
const CPU_PERIOD = 100_000
/** Docker's and podman's init does not count against the program. */
const INIT_PROCESSES = 1
/** In cgroup v1 shares, of which an ordinary process has 1024: `cpuShare` counts in tenths of one. */
const SHARES_PER_TENTH = 102

/** The body of the engine's create call, as far as the order decides it. */
export type EngineRequest = ReturnType<typeof engineRequest>

export interface Ids {
  readonly uid: number
  readonly gid: number
}

/** An order for a container as its keeper takes it. */
export function keeperContainer(order: LaunchOrder, worker: Ids = ownIds()): KeeperContainer {
  const { container } = order
  if (container === null) throw new Error(`attempt ${order.key} orders no container`)
  const { engine, name } = container
  return { engine, name, request: engineRequest(order, container, worker), secretsAt: SECRETS }
}

function engineRequest(order: LaunchOrder, container: ContainerOrder, worker: Ids) {
  const { key, argv, env, secrets } = order
  const hasSecretFiles = secrets !== null && secrets.files.length > 0
  const added = { STOKER_ATTEMPT: key, ...(hasSecretFiles ? { STOKER_SECRETS: SECRETS } : {}) }
  return {
    Image: container.image,
    ...(argv.length > 0 ? { Cmd: argv } : {}),
    User: container.user ?? (worker.uid === 0 ? NOBODY : `${worker.uid}:${worker.gid}`),
    ...(container.workdir === 'image' ? {} : { WorkingDir: container.workdir ?? '/work' }),
    Env: Object.entries({ ...env, ...added }).map(([name, value]) => `${name}=${value}`),
    Labels: { ...container.labels, 'stoker.attempt': key },
    Hostname: 'job',
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: hostConfig(order, container),
  }
}

function hostConfig({ folder, limits, network }: LaunchOrder, container: ContainerOrder) {
  const { memoryBytes, cpuShare, pids } = limits
  const { cpus, shmBytes, tmpBytes, binds, deviceIds } = container
  const work = { source: resolve(folder, 'work'), target: '/work', readOnly: false }
  return {
    ...(memoryBytes === null ? {} : { Memory: memoryBytes, MemorySwap: memoryBytes }),
    ...(cpus === null ? {} : { CpuPeriod: CPU_PERIOD, CpuQuota: Math.max(1000, Math.round(cpus * CPU_PERIOD)) }),
    ...(cpuShare === null ? {} : { CpuShares: Math.max(2, Math.floor(cpuShare * SHARES_PER_TENTH)) }),
    ...(shmBytes === null ? {} : { ShmSize: shmBytes }),
    PidsLimit: pids + INIT_PROCESSES,
    NetworkMode: network === 'internet' ? 'bridge' : network,
    Init: true,
    AutoRemove: false,
    ReadonlyRootfs: !container.writableRoot,
    Tmpfs: { '/tmp': `rw,noexec,nosuid,nodev,size=${tmpBytes}` },
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    // All output is in the attempt's files; a second copy at the engine would have no limit.
    LogConfig: { Type: 'none', Config: {} },
    Mounts: [work, ...binds].map(({ source, target, readOnly }) => ({
      Type: 'bind',
      Source: source,
      Target: target,
      ReadOnly: readOnly,
    })),
    ...(deviceIds.length === 0
      ? {}
      : { DeviceRequests: [{ Driver: '', Count: 0, DeviceIDs: deviceIds, Capabilities: [['gpu']] }] }),
  }
}

function ownIds(): Ids {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
}

import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { bootId, createLog, freeBytes, lockFolder, processStart } from '@stoker/files'
import { Bandwidth, nextDelayMs } from '@stoker/net'
import type { Hardware } from '@stoker/protocol'
import { abilitiesNow, programAbilities } from './abilities.ts'
import { loadIdentity } from './agent/identity.ts'
import { StatusFile } from './agent/status-file.ts'
import { InputCache } from './artifacts/input-cache.ts'
import { ModelStore } from './artifacts/model-store.ts'
import { readConfig, type WorkerConfig } from './config.ts'
import { createProcessExecutor } from './executors/process-executor.ts'
import { claimUids } from './executors/uid-range.ts'
import { defaultJobs, openLink } from './open-link.ts'
import { openPrograms } from './open-programs.ts'
import { EngineWatch } from './probe/engine/engine-watch.ts'
import { findEngine } from './probe/engine/find-engine.ts'
import { DeviceWatch, GpuSampler, HostSampler, probeMachine } from './probe/index.ts'
import { Runner } from './run/runner.ts'
import { removeStrays } from './run/stray-containers.ts'
import { Workspaces } from './run/workspace.ts'
import { shutDownOnSignals } from './shut-down.ts'
import { VERSION } from './version.ts'

const GPU_SAMPLE_MS = 2000
const DEVICE_LOOK_MS = 10_000
const ENGINE_LOOK_MS = 60_000

try {
  await main(readConfig(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`stoker worker: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
}

async function main(config: WorkerConfig): Promise<void> {
  const log = createLog({ ...config.log, part: 'worker', write: line => process.stderr.write(line), now: Date.now })
  const folder = resolve(config.dataFolder)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const lock = await lockFolder(folder)
  const identity = await loadIdentity(folder, randomUUID)
  const hardware = unique(
    await probeMachine({ folder, simulateGpus: config.simulateGpus, env: config.env }),
    identity.workerId,
  )
  const python = hardware.pythons[0] ?? null
  const maxJobs = config.maxJobs ?? defaultJobs(config, hardware)
  let tellAbilities = () => {}
  const engine = new EngineWatch({
    find: () => findEngine(config),
    rules: { allowedImages: [...config.allowedImages], allowedMounts: [...config.allowedMounts], pulls: config.pulls },
    simulated: hardware.gpus.length > 0 && hardware.gpus.every(gpu => gpu.simulated),
    intervalMs: ENGINE_LOOK_MS,
    changed: () => tellAbilities(),
  })
  await engine.look()
  const { note } = engine.latest()
  if (note !== null) log('warn', note)
  const executor =
    python === null
      ? null
      : createProcessExecutor({
          runtimeDir: join(folder, 'run'),
          python: python.path,
          slots: maxJobs,
          firstUid: await firstUid(identity.workerId, folder, maxJobs),
          removeStrays: isHeld => removeStrays(engine.latest().socket, identity.workerId, isHeld),
        })
  const fixed = await programAbilities(config, python?.path ?? null, log)
  const ground = { config, folder, executor, hardware, abilities: () => fixed, changed: () => tellAbilities(), log }
  const { supply, board } = await openPrograms(ground)
  const abilities = abilitiesNow(
    fixed,
    () => engine.latest(),
    () => board.latest,
  )
  const models = await openModels(config, folder)
  const hostSampler = new HostSampler()
  const gpuSampler = hardware.gpus.some(gpu => !gpu.simulated)
    ? new GpuSampler({
        intervalMs: config.metricsMs ?? GPU_SAMPLE_MS,
        restartDelayMs: attempt => nextDelayMs({ attempt, baseMs: 1000, maxMs: 60_000, random: Math.random }),
      })
    : null
  const watch = new DeviceWatch({
    uuids: hardware.gpus.filter(gpu => !gpu.simulated).map(gpu => gpu.uuid),
    intervalMs: DEVICE_LOOK_MS,
    samples: () => gpuSampler?.latest() ?? [],
    inUse: () => runner.devicesInUse,
  })
  const workspaces = new Workspaces(join(folder, 'attempts'))
  const cache = await InputCache.open(join(folder, 'cache'), config.cacheBytes ?? (await defaultCacheBytes(folder)))
  const now = () => Date.now()
  let saidReady = false
  const { link, contentOf, id, name, node } = openLink({
    config,
    folder,
    identity,
    hardware,
    maxJobs,
    abilities,
    workspaces,
    sources: {
      host: () => hostSampler.sample(),
      gpus: () => gpuSampler?.latest() ?? [],
      devices: () => watch.latest(),
    },
    now,
    log,
    ready: () => {
      if (!saidReady) process.stdout.write(`${JSON.stringify({ ready: true, workerId: id, name })}\n`)
      saidReady = true
    },
    connection: isOpen => status.connection(isOpen ? new Date(now()).toISOString() : null),
    refused: () => void leaveAlone(1),
  })
  const runner: Runner = new Runner({
    executor,
    workspaces,
    delivery: link,
    transfers: {
      contentOf,
      cache,
      bandwidth: config.bytesPerSecond === null ? undefined : new Bandwidth(config.bytesPerSecond),
    },
    containers: {
      workerId: identity.workerId,
      socket: () => engine.latest().socket,
      imageCame: () => void engine.look(),
    },
    models,
    get abilities() {
      return abilities()
    },
    gpus: hardware.gpus,
    python,
    supply,
    visiblePaths: config.visiblePaths,
    env: config.env,
    now,
  })
  tellAbilities = () => link.tellAbilities()
  if (gpuSampler !== null) await watch.start()
  const status = new StatusFile(folder, await statusOf(config.hubUrl, id, name, maxJobs), () => ({
    running: runner.count,
    ...(node === undefined ? {} : { node: node() }),
  }))
  const cleanUp = async () => {
    await Promise.all([status.close(), gpuSampler?.stop(), watch.stop(), engine.stop(), board.stop(), lock.release()])
  }
  // Programs are left to their keepers: an upgraded or newly joined worker finds them again.
  const leaveAlone = async (code: number) => {
    await link.close()
    await executor?.close('leave-running')
    await cleanUp()
    process.exit(code)
  }
  const ifSupervised = config.supervised ? () => leaveAlone(0) : null
  shutDownOnSignals({ link, runner, executor, log, cleanUp, leaveAlone: ifSupervised })
  await link.start(runner)
}

async function openModels(config: WorkerConfig, data: string): Promise<ModelStore> {
  const folder = resolve(config.modelsFolder ?? join(data, 'models'))
  const emptyFolder = join(data, 'no-models')
  for (const one of [folder, emptyFolder]) await mkdir(one, { recursive: true, mode: 0o755 })
  return new ModelStore({
    folder,
    emptyFolder,
    allowedFolders: config.allowedMounts,
    privateHosts: config.modelHosts,
    fetches: config.fetchesModels,
  })
}

async function defaultCacheBytes(folder: string): Promise<number> {
  return Math.min(20e9, (await freeBytes(folder)).totalBytes / 10)
}

/** Only the sandboxes of a root worker run under uids of their own. */
async function firstUid(workerId: string, folder: string, slots: number): Promise<number | undefined> {
  return process.getuid?.() === 0 ? claimUids({ workerId, folder, slots }) : undefined
}

async function statusOf(hub: string, workerId: string, name: string, maxJobs: number) {
  const start = (await processStart(process.pid)) ?? ''
  const of = { pid: process.pid, processStart: start, bootId: await bootId(), startedAt: new Date().toISOString() }
  return { ...of, workerId, name, version: VERSION, hub, maxJobs }
}

/** Devices are known by uuid across the hub; simulated ones must not meet those of another worker. */
function unique(hardware: Hardware, workerId: string): Hardware {
  const gpus = hardware.gpus.map(gpu => (gpu.simulated ? { ...gpu, uuid: `${gpu.uuid}-${workerId.slice(-12)}` } : gpu))
  return { ...hardware, gpus }
}

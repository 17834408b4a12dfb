import { randomBytes } from 'node:crypto'
import { chmod, mkdir } from 'node:fs/promises'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { lockFolder, sha256, writeAtomic } from '@stoker/files'
import { pino } from 'pino'
import { createApi } from './api/create-api.ts'
import { Clock } from './clock.ts'
import { DiskSpace } from './disk-space.ts'
import { Core } from './engine/core.ts'
import { LiveBoard } from './engine/live-board.ts'
import { carryLiveness } from './engine/liveness.ts'
import { EngineLoop } from './engine/loop.ts'
import { Recovering } from './engine/recover.ts'
import type { State } from './engine/state.ts'
import { NativeGateway } from './gateways/native/gateway.ts'
import { newId } from './new-id.ts'
import { openDiskBlobs } from './outputs/artifacts/disk/disk-blobs.ts'
import { openDiskStreams } from './outputs/disk/disk-streams.ts'
import { Collector } from './retention/collector.ts'
import { DEFAULT_RETENTION, type Retention } from './retention/settings.ts'
import { packed } from './scheduler/packed.ts'
import { schedulingRules } from './scheduler/rules.ts'
import { DiskFull, type Store } from './store/port.ts'
import { openSqliteStore } from './store/sqlite/open.ts'
import { VERSION } from './version.ts'

const TICK_MS = 1000
const SWEEP_MS = 30_000
const KEYS_KEPT_MS = 24 * 3600_000
const JOURNAL_KEPT_MS = 30 * 24 * 3600_000
const PRUNE_MS = 3600_000
const GC_MS = 3600_000

export interface HubOptions {
  readonly folder: string
  readonly host: string
  readonly port: number
  readonly retention?: Retention | undefined
  readonly log: (level: 'info' | 'warn', text: string) => void
  /** The store's outcome cannot be known, or a bug was met: the process must end. */
  readonly broken: (error: unknown) => void
}

export interface Hub {
  readonly url: string
  readonly epoch: number
  close(): Promise<void>
}

/** Puts the house together: the only place that names concrete stores, streams, policies and gateways. */
export async function startHub(options: HubOptions): Promise<Hub> {
  const { folder, log, broken } = options
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  const lock = await lockFolder(folder)
  const store = await openSqliteStore({ folder })
  const clock = new Clock(() => performance.now())
  const disk = new DiskSpace(folder)
  await disk.fillReserve()
  const core = new Core(await recover(store, clock), packed, schedulingRules)
  await startEpoch(core, store, clock)
  const isNew = core.state.tokens.size === 0
  let latest = core.state
  const engine = new EngineLoop(core, {
    journal: store,
    now: clock.now,
    soon: setImmediate,
    isDiskFull: error => error instanceof DiskFull,
    openReserve: disk.openReserve,
    recover: async () => {
      const state = await recover(store, clock)
      carryLiveness(latest, state)
      latest = state
      return new Core(state, packed, schedulingRules)
    },
    broken,
  })
  const streams = await openDiskStreams({
    folder: join(folder, 'outputs'),
    queries: store.queries,
    commit: async rows => {
      await engine.execute({ kind: 'rows', rows })
    },
    now: Date.now,
  })
  const blobs = await openDiskBlobs(join(folder, 'outputs', 'blobs'), {
    index: store.queries,
    commit: async rows => {
      await engine.execute({ kind: 'rows', rows })
    },
    now: Date.now,
    checkRoom: disk.checkRoom,
  })
  engine.onCommit(({ changes }) => {
    for (const change of changes) if (change.c === 'attemptEnded' || change.c === 'released') streams.ended(change)
  })
  if (isNew) await makeAdminToken(engine, folder)
  const board = new LiveBoard()
  const { retention = DEFAULT_RETENTION } = options
  const gc = new Collector({ engine, queries: store.queries, streams, blobs, now: Date.now, retention })
  let isStopping = false
  const api = await createApi({
    engine,
    queries: store.queries,
    streams,
    blobs,
    board,
    gc,
    now: Date.now,
    newId,
    random: randomBytes,
    version: VERSION,
    startedAt: Date.now(),
    diskGuard: disk.guard,
    unschedulable: schedulingRules.unschedulable,
    isStopping: () => isStopping,
    logger: pino({ level: 'error' }, pino.destination(2)),
  })
  const gateway = new NativeGateway({
    engine,
    streams,
    blobs,
    board,
    queries: store.queries,
    version: VERSION,
    now: Date.now,
    log,
  })
  gateway.listen(api.server as Server)
  const timers = [
    setInterval(() => {
      clock.tick()
      void engine.execute({ kind: 'tick' }).catch(() => {})
    }, TICK_MS),
    setInterval(() => void streams.sweep().then(() => disk.fillReserve(), broken), SWEEP_MS),
    setInterval(
      () =>
        void store
          .prune({ keysBefore: Date.now() - KEYS_KEPT_MS, journalBefore: Date.now() - JOURNAL_KEPT_MS })
          .catch(broken),
      PRUNE_MS,
    ),
    setInterval(() => void gc.run().catch(error => log('warn', `retention did not end: ${error}`)), GC_MS),
  ]
  const close = async () => {
    isStopping = true
    for (const timer of timers) clearInterval(timer)
    gateway.close()
    await api.close()
    await gc.close()
    await streams.close()
    await store.close()
    await lock.release()
  }
  try {
    const url = await api.listen({ host: options.host, port: options.port })
    return { url, epoch: core.state.epoch, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function recover(store: Store, clock: Clock): Promise<State> {
  const recovering = new Recovering()
  const rows = await store.recover(recovering.visit)
  return recovering.finish(rows, clock.now())
}

/** An epoch is at least the second of its start, so that a hub restored from an old backup is ahead of every hub that ran since. */
async function startEpoch(core: Core, store: Store, clock: Clock): Promise<void> {
  const now = clock.now()
  core.record({ c: 'epoch', epoch: Math.max(core.state.epoch + 1, Math.floor(now.wall / 1000)), at: now.wall })
  const batch = core.finish(now)
  if (batch !== null) await store.append(batch.commit)
}

/** The first token is written where only its owner can read it, and never shown. */
async function makeAdminToken(engine: EngineLoop, folder: string): Promise<void> {
  const secret = `stk_${randomBytes(32).toString('base64url')}`
  await writeAtomic(join(folder, 'admin-token'), `${secret}\n`, { mode: 0o600 })
  await engine.execute({
    kind: 'addToken',
    id: newId(),
    hash: sha256(secret),
    role: 'admin',
    owner: 'admin',
    label: 'made at the first start',
    expiresAt: null,
  })
}

import { randomBytes } from 'node:crypto'
import { chmod, mkdir } from 'node:fs/promises'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { type Log, lockFolder } from '@stoker/files'
import type { Listener, PolicyName } from '@stoker/protocol'
import { pino } from 'pino'
import { createApi, SERVER_OPTIONS } from './api/create-api.ts'
import { answerBrokenRequest } from './api/problems.ts'
import { viewJob } from './api/views.ts'
import { webhookKey } from './api/webhooks.ts'
import { Clock } from './clock.ts'
import { CommitFigures } from './commit-figures.ts'
import type { PresetOptions } from './config.ts'
import { dataSizes } from './data-sizes.ts'
import { DiskSpace } from './disk-space.ts'
import { Core } from './engine/core.ts'
import { LiveBoard } from './engine/live-board.ts'
import { carryLiveness } from './engine/liveness.ts'
import { EngineLoop } from './engine/loop.ts'
import { makeAdminToken, recover, startEpoch } from './first-steps.ts'
import { NativeGateway } from './gateways/native/gateway.ts'
import { inTurns } from './in-turns.ts'
import { ownCertificate, readCertificate } from './listeners/certificate.ts'
import { refuseOpenPlain } from './listeners/listen-address.ts'
import { Listeners } from './listeners/listeners.ts'
import { rememberedIn } from './listeners/remembered.ts'
import { newId } from './new-id.ts'
import { type DialectOptions, type OwnAddresses, openDialects } from './open-dialects.ts'
import { openPresets } from './open-presets.ts'
import { openDiskBlobs } from './outputs/artifacts/disk/disk-blobs.ts'
import { openDiskStreams } from './outputs/disk/disk-streams.ts'
import { PlanFigures } from './plan-figures.ts'
import { readProgramBook } from './programs/program-book.ts'
import { recallRuns } from './recall-runs.ts'
import { Collector } from './retention/collector.ts'
import { DEFAULT_RETENTION, lookEveryMs, type Retention } from './retention/settings.ts'
import { explainJob } from './scheduler/explain/explain-job.ts'
import { POLICIES } from './scheduler/policies.ts'
import { schedulingRules } from './scheduler/rules.ts'
import { waitCode } from './scheduler/wait-code.ts'
import { Firing } from './schedules/firing.ts'
import { SecretVault } from './secret-vault.ts'
import { ORDINARY_LIMITS } from './serving/rate-limit.ts'
import { routeUpgrades } from './serving/upgrades.ts'
import { DiskFull } from './store/port.ts'
import { openSqliteStore } from './store/sqlite/open.ts'
import { VERSION } from './version.ts'
import { WebhookDispatcher } from './webhooks/dispatcher.ts'
import { signingSecret } from './webhooks/sign.ts'
import { workerBundleIn } from './worker-bundle.ts'

const TICK_MS = 1000
const SWEEP_MS = 30_000
const KEYS_KEPT_MS = 24 * 3600_000

export interface HubOptions extends DialectOptions {
  readonly folder: string
  readonly host: string
  readonly port: number
  readonly retention?: Retention | undefined
  readonly policy?: PolicyName | undefined
  /** Further addresses, like https://0.0.0.0:7443. */
  readonly listen?: readonly string[] | undefined
  /** PEM files of the certificate for https addresses; without them the hub makes its own. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
  /** Allows addresses without TLS that other machines can reach. */
  readonly insecure?: boolean | undefined
  /** Where the built programs are that a joining machine gets. */
  readonly programs?: string | undefined
  /** Hosts webhooks may post to although their addresses are private. */
  readonly webhookHosts?: readonly string[] | undefined
  readonly insecureSecrets?: boolean | undefined
  /** Requests a second of one owner; null for any number. */
  readonly rateLimit?: number | null | undefined
  readonly presets?: PresetOptions | undefined
  readonly log: Log
  /** The store's outcome cannot be known, or a bug was met: the process must end. */
  readonly broken: (error: unknown) => void
}

export interface Hub extends OwnAddresses {
  readonly url: string
  readonly epoch: number
  readonly listeners: readonly Listener[]
  close(): Promise<void>
}

/** Puts the house together: the only place that names concrete stores, streams, policies and gateways. */
export async function startHub(options: HubOptions): Promise<Hub> {
  const { folder, log, broken, insecure = false, tls } = options
  if (!insecure) refuseOpenPlain(options.host)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  const lock = await lockFolder(folder)
  const store = await openSqliteStore({ folder })
  const clock = new Clock(() => performance.now())
  const disk = new DiskSpace(folder)
  const plans = new PlanFigures()
  const policy = POLICIES[options.policy ?? 'packed']
  const planner = plans.timed(policy)
  await disk.fillReserve()
  const core = new Core(await recover(store, clock), planner, schedulingRules)
  await startEpoch(core, store, clock)
  const isNew = core.state.tokens.size === 0
  let latest = core.state
  const commits = new CommitFigures()
  const engine = new EngineLoop(core, {
    journal: commits.timed(store),
    now: clock.now,
    soon: setImmediate,
    isDiskFull: error => error instanceof DiskFull,
    openReserve: disk.openReserve,
    recover: async () => {
      const state = await recover(store, clock)
      carryLiveness(latest, state)
      latest = state
      return new Core(state, planner, schedulingRules)
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
  const vault = new SecretVault(folder)
  const board = new LiveBoard()
  const webhooks = new WebhookDispatcher({
    engine,
    queries: store.queries,
    view: row => viewJob({ engine, board, unschedulable: schedulingRules.unschedulable }, row),
    openSecret: async ({ id, owner, secret }) => (await vault.open(owner, webhookKey(id), secret)).toString(),
    allowedHosts: options.webhookHosts ?? [],
    now: Date.now,
    random: Math.random,
  })
  const listeners = new Listeners({
    certificate: () => (tls === undefined ? ownCertificate(folder, Date.now) : readCertificate(tls.cert, tls.key)),
    insecure,
    remembered: rememberedIn(folder),
    log,
  })
  const { retention = DEFAULT_RETENTION } = options
  const gc = new Collector({ engine, queries: store.queries, streams, blobs, now: Date.now, retention })
  const programsFolder = options.programs ?? import.meta.dirname
  const programs = await readProgramBook(join(programsFolder, 'jobs'))
  const presets = await openPresets(options.presets, {
    programs,
    folder,
    engine,
    queries: store.queries,
    diskGuard: disk.guard,
    log,
  })
  let isStopping = false
  const limits = {
    ...ORDINARY_LIMITS,
    perOwner: options.rateLimit === undefined ? ORDINARY_LIMITS.perOwner : options.rateLimit,
  }
  const shared = {
    programs,
    engine,
    queries: store.queries,
    streams,
    board,
    presets: presets.source,
    now: Date.now,
    newId,
    version: VERSION,
    diskGuard: disk.guard,
    isStopping: () => isStopping,
  }
  const dialects = await openDialects({ ...shared, blobs, folder, log, limits, retention, clock: clock.now }, options)
  const api = await createApi({
    ...shared,
    front: dialects.front,
    described: dialects.routes,
    blobs,
    gc,
    random: randomBytes,
    vault,
    startedAt: Date.now(),
    unschedulable: schedulingRules.unschedulable,
    explain: (state, job) => explainJob(state, policy, job, clock.now()),
    metrics: [commits.seconds, commits.changes, plans.seconds, dialects.figures],
    waitCode,
    dataSizes: dataSizes(folder, Date.now),
    webhooks: {
      newSecret: () => signingSecret(randomBytes(24)),
      refusal: url => webhooks.refusal(url),
      ping: webhook => webhooks.ping(webhook, `${webhook.id}.${newId()}`),
    },
    limits,
    listeners,
    warmthOf: presets.warmthOf,
    workerBundle: workerBundleIn(programsFolder),
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
    openSecret: (owner, name, sealed) => vault.open(owner, name, sealed),
    insecureSecrets: options.insecureSecrets ?? false,
    deviceDifficulty: presets.source.settings.deviceDifficulty,
  })
  const attach = (server: Server) => routeUpgrades(server, [gateway.upgrades, ...dialects.upgrades])
  attach(api.server as Server)
  const firing = new Firing(shared)
  const timers = [
    inTurns(TICK_MS, [
      () => {
        clock.tick()
        void engine.execute({ kind: 'tick' }).catch(() => {})
      },
      () => void disk.look().catch(error => log('warn', `how full the disk is cannot be seen: ${error}`)),
      () => void presets.tick().catch(error => log('warn', `presets wait for the next second: ${error}`)),
      () => void firing.look().catch(error => log('warn', `the schedules wait for the next second: ${error}`)),
    ]),
    setInterval(() => void streams.sweep().then(() => disk.fillReserve(), broken), SWEEP_MS),
    setInterval(
      () =>
        void store
          .prune({ keysBefore: Date.now() - KEYS_KEPT_MS, journalBefore: Date.now() - retention.journalMs })
          .then(() => webhooks.sweep())
          .catch(broken),
      lookEveryMs(retention),
    ),
    setInterval(
      () => void gc.run().catch(error => log('warn', `retention did not end: ${error}`)),
      lookEveryMs(retention),
    ),
  ]
  let recalling: Promise<unknown> = Promise.resolve()
  const close = async () => {
    isStopping = true
    for (const timer of timers) clearInterval(timer)
    gateway.close()
    await presets.close()
    await webhooks.close()
    await dialects.close()
    await api.close()
    await listeners.closeAll()
    await gc.close()
    await streams.close()
    await recalling
    await store.close()
    await lock.release()
  }
  try {
    await webhooks.start()
    recalling = recallRuns(store.queries, () => (isStopping ? null : latest.runTimes)).catch(error =>
      log('warn', `how long jobs took before is not known: ${error}`),
    )
    const url = await api.listen({ host: options.host, port: options.port })
    const reception = {
      options: SERVER_OPTIONS,
      request: dialects.front(api.routing),
      broken: answerBrokenRequest,
      attach,
    }
    await listeners.start(reception, url, options.listen ?? [])
    return {
      url,
      epoch: core.state.epoch,
      listeners: listeners.list().listeners,
      ...(await dialects.listen(options.host)),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

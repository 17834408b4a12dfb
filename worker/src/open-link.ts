import { createHash, randomInt, randomUUID } from 'node:crypto'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import type { Log } from '@stoker/files'
import type { Abilities, Hardware, WorkerStatus } from '@stoker/protocol'
import type { Identity } from './agent/identity.ts'
import type { Transfers } from './artifacts/transfers.ts'
import type { WorkerConfig } from './config.ts'
import type { ForeignConfig } from './foreign-config.ts'
import { HubCalls } from './links/foreign/hub-calls.ts'
import { JobJournal } from './links/foreign/job-journal.ts'
import { PutTarget } from './links/foreign/put-target.ts'
import type { Link, LinkEvents } from './links/link.ts'
import { nativeContent } from './links/native/native-content.ts'
import { NativeLink } from './links/native/native-link.ts'
import { SpoolFile } from './links/native/spool-file.ts'
import { QUBIX_TIMES, qubixLink } from './links/qubix/qubix-dialect.ts'
import type { Sources } from './links/sources.ts'
import { ProjectFiles, projectRoots } from './links/trainforge/project-files.ts'
import { TRAINFORGE_TIMES, trainforgeLink } from './links/trainforge/trainforge-dialect.ts'
import { nodeStatus } from './links/trainforge/trainforge-machine.ts'
import type { Workspaces } from './run/workspace.ts'
import { VERSION } from './version.ts'

/** Offers on their way that the worker has not answered yet: enough that the hub decides, writes and hears of some each while the worker has others. */
const WINDOW = 4096

type Foreign<D> = ForeignConfig & { readonly dialect: D }

export interface LinkParts extends LinkEvents {
  readonly config: WorkerConfig
  readonly folder: string
  readonly identity: Identity
  readonly hardware: Hardware
  readonly maxJobs: number
  readonly abilities: () => Abilities
  readonly workspaces: Workspaces
  readonly sources: Sources
  readonly now: () => number
  readonly log: Log
}

export interface OpenLink {
  /** How the hub knows this worker. */
  readonly id: string
  readonly name: string
  readonly link: Link
  readonly contentOf: Transfers['contentOf']
  /** What commands on this machine are told beyond what every worker tells. */
  readonly node?: () => WorkerStatus['node']
}

/** The one place that knows which link a worker has: it follows from how its hub was named. */
export function openLink(parts: LinkParts): OpenLink {
  const { foreign } = parts.config
  if (foreign === null) return openNative(parts)
  return foreign.dialect === 'qubix' ? openQubix(parts, foreign) : openTrainforge(parts, foreign)
}

/** Jobs at once, where nobody said: our own hub knows what each of them needs, a foreign one hands out blindly. */
export function defaultJobs({ foreign }: WorkerConfig, { cores, gpus }: Hardware): number {
  if (foreign === null) return 2 * cores
  return foreign.dialect === 'qubix' ? Math.max(1, gpus.length) : 4
}

/** Content of a foreign hub is fetched by its link and lies beside its journal. */
function noContent(): never {
  throw new Error('this hub keeps no content by its hash')
}

function openQubix({ config, identity, hardware, folder, ...of }: LinkParts, foreign: Foreign<'qubix'>): OpenLink {
  const { trust } = config
  const { address, location, pricePerHour } = foreign
  const id = createHash('sha256').update(identity.workerId).digest('hex').slice(0, 16)
  const name = foreign.name ?? `Provider-${id.slice(0, 8)}`
  const { backoff } = QUBIX_TIMES
  const link = qubixLink({
    ...of,
    hub: foreign.url,
    calls: new HubCalls(foreign.url, { login: foreign.login, trust }),
    provider: { address, location, pricePerHour, workerId: id, name, hardware, cpuMhz: cpus()[0]?.speed ?? 0 },
    times: { ...QUBIX_TIMES, progressMs: foreign.progressMs },
    journal: openJournal(folder, of.log),
    target: foreign.uploadUrl === null ? null : new PutTarget(foreign.uploadUrl, { backoff }),
    random: Math.random,
  })
  return { id, name, link, contentOf: noContent }
}

function openTrainforge(parts: LinkParts, foreign: Foreign<'trainforge'>): OpenLink {
  const { config, identity, hardware, folder, maxJobs, ...of } = parts
  const workerId = foreign.workerId ?? `${hardware.hostname}-${identity.workerId.slice(-8)}`
  const calls = new HubCalls(foreign.url, { login: foreign.login, trust: config.trust })
  const projects = new ProjectFiles({
    ...{ calls, folder: join(folder, 'projects'), localRoots: projectRoots(process.cwd()) },
    backoff: TRAINFORGE_TIMES.backoff,
  })
  const node = { workerId, hardware, maxJobs }
  const { link, load } = trainforgeLink({
    ...of,
    ...{ calls, projects, node, hub: foreign.url, times: TRAINFORGE_TIMES, loadAverage: loadavg },
    ...{ journal: openJournal(folder, of.log), random: Math.random },
  })
  return { id: workerId, name: workerId, link, contentOf: projects.contentOf, node: () => nodeStatus(node, load()) }
}

function openJournal(folder: string, log: Log): JobJournal {
  return new JobJournal(join(folder, 'jobs'), {
    first: randomInt(1, 2 ** 47),
    unreadable: path => log('warn', `${path} cannot be read; it is left as it is`),
  })
}

function openNative({ config, identity, hardware, maxJobs, abilities, folder, ...of }: LinkParts): OpenLink {
  const { ready, connection, refused, workspaces, sources, now, log } = of
  const link = new NativeLink({
    ...{ ready, connection, refused, workspaces, now, log },
    hubUrl: config.hubUrl,
    secret: identity.secret,
    join: config.join,
    trust: config.trust,
    introduction: {
      version: VERSION,
      workerId: identity.workerId,
      bootId: randomUUID(),
      name: config.name,
      tags: [...config.tags],
      maxJobs,
      cpus: hardware.cores,
      memoryBytes: hardware.memoryBytes,
      window: WINDOW,
      hardware,
      get abilities() {
        return abilities()
      },
    },
    spoolFile: new SpoolFile(join(folder, 'spool.jsonl')),
    sources: { ...sources, now, everyMs: config.metricsMs },
    steadyNow: () => performance.now(),
    random: Math.random,
  })
  return {
    id: identity.workerId,
    name: config.name,
    link,
    contentOf: nativeContent(config.hubUrl, identity, config.trust),
  }
}

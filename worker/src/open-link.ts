import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Log } from '@stoker/files'
import type { Abilities, Hardware } from '@stoker/protocol'
import type { Identity } from './agent/identity.ts'
import type { Transfers } from './artifacts/transfers.ts'
import type { WorkerConfig } from './config.ts'
import type { Link, LinkEvents } from './links/link.ts'
import { nativeContent } from './links/native/native-content.ts'
import { NativeLink } from './links/native/native-link.ts'
import { SpoolFile } from './links/native/spool-file.ts'
import type { Sources } from './links/sources.ts'
import type { Workspaces } from './run/workspace.ts'
import { VERSION } from './version.ts'

/** Offers on their way that the worker has not answered yet: enough that the hub decides, writes and hears of some each while the worker has others. */
const WINDOW = 4096

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
  readonly link: Link
  readonly contentOf: Transfers['contentOf']
}

/** The one place that knows which link a worker has: it follows from how its hub was named. */
export async function openLink(parts: LinkParts): Promise<OpenLink> {
  return nativeLink(parts)
}

function nativeLink({ config, identity, hardware, maxJobs, abilities, folder, ...of }: LinkParts): OpenLink {
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
    sources: { ...sources, now },
    steadyNow: () => performance.now(),
    random: Math.random,
  })
  return { link, contentOf: nativeContent(config.hubUrl, identity, config.trust) }
}

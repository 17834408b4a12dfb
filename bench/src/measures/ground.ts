import { join } from 'node:path'
import type { Cleanups } from '../cleanups.ts'
import type { PeerName } from '../goals/goal.ts'
import type { Findings, NotMeasured, Rounds } from '../goals/goals.ts'
import { BullPeer } from '../peers/bullmq.ts'
import { GraphilePeer } from '../peers/graphile.ts'
import type { Child } from '../processes/child.ts'
import type { Contestant } from '../rounds.ts'
import { MortalWorker } from '../servers/mortal-worker.ts'
import type { Postgres } from '../servers/postgres.ts'
import type { Redis } from '../servers/redis.ts'
import { type Bundles, type Hub, startHub, startWorker, type WorkerOptions } from '../servers/stoker.ts'

/** What every measure stands on: a folder, our bundles, and the peers this machine has. */
export interface Ground {
  /** Where programs are looked for. */
  readonly path: string
  readonly scratch: string
  /** For what a measure cannot say by its figures. */
  readonly say: (text: string) => void
  readonly soakMinutes: number
  readonly bundles: Bundles
  readonly redis: Redis | NotMeasured
  readonly postgres: Postgres | NotMeasured
}

/** Opens what one measure needs; all of it is closed with the measure. */
export class Stage {
  readonly #ground: Ground
  readonly #cleanups: Cleanups
  #opened = 0

  constructor(ground: Ground, cleanups: Cleanups) {
    this.#ground = ground
    this.#cleanups = cleanups
  }

  async hub(options: readonly string[] = []): Promise<Hub> {
    const hub = await startHub(this.#ground.bundles, this.folder('h'), options)
    this.#cleanups.add(hub.stop)
    return hub
  }

  async worker(hub: Hub, maxJobs: number, options: Omit<WorkerOptions, 'maxJobs'> = {}): Promise<Child> {
    const worker = await startWorker(this.#ground.bundles, hub, this.folder('w'), { maxJobs, ...options })
    this.#cleanups.add(worker.stop)
    return worker
  }

  /** One that may be killed and come back. */
  async mortalWorker(hub: Hub, options: WorkerOptions): Promise<MortalWorker> {
    const worker = await MortalWorker.start(this.#ground.bundles, hub, this.folder('w'), options)
    this.#cleanups.add(() => worker.stop())
    return worker
  }

  /** Null where the machine has no Redis. */
  bull(queue: string): BullPeer | null {
    const { redis } = this.#ground
    if ('notMeasured' in redis) return null
    const peer = new BullPeer(redis, queue)
    this.#cleanups.add(() => peer.close())
    return peer
  }

  /** Null where the machine has no PostgreSQL. */
  async graphile(): Promise<GraphilePeer | null> {
    const { postgres } = this.#ground
    if ('notMeasured' in postgres) return null
    const peer = await GraphilePeer.open(postgres)
    this.#cleanups.add(() => peer.close())
    await peer.clear()
    return peer
  }

  /** Runs until the measure is over. */
  async keep<T extends Child | undefined>(child: Promise<T> | T): Promise<T> {
    const kept = await child
    if (kept !== undefined) this.#cleanups.add(kept.stop)
    return kept
  }

  /** Done when the measure is over, before what was opened earlier is closed. */
  atEnd(undo: () => Promise<void>): void {
    this.#cleanups.add(undo)
  }

  /** The rounds of a peer, or why it has none. */
  roundsOf(peer: Extract<PeerName, 'BullMQ' | 'graphile-worker'>, figures: readonly number[] | undefined): Rounds {
    const server = peer === 'BullMQ' ? this.#ground.redis : this.#ground.postgres
    if ('notMeasured' in server) return server
    return figures ?? { notMeasured: 'it took no part' }
  }

  /** A name nobody else has; whoever asked makes the folder. */
  folder(kind: string): string {
    this.#opened += 1
    return join(this.#ground.scratch, `${kind}${this.#opened}-${Date.now().toString(36)}`)
  }
}

/** A contestant that takes part only if it exists. */
export function ifThere<T>(peer: T | null, name: string, run: (peer: T) => Promise<number>): Contestant[] {
  return peer === null ? [] : [{ name, run: () => run(peer) }]
}

export type Measure = (stage: Stage, ground: Ground) => Promise<Findings>

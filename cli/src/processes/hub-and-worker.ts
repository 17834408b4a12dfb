import { join } from 'node:path'
import { createClient } from '@stoker/client'
import type { Io } from '../io.ts'
import { adoptHub, type HubReady, hubPlace, hubReadyOf } from './hub-process.ts'
import { openLogFile } from './log-file.ts'
import { programFile, startProgram } from './program.ts'
import type { RetentionOptions } from './retention-options.ts'
import { Supervised } from './supervised.ts'
import { hubMark, readMarker, writeMarker } from './up-marker.ts'
import { isNewWorker, makeJoinToken, type WorkerOptions, workerArgs, workerReadyOf } from './worker-process.ts'

export interface PairOptions extends WorkerOptions, RetentionOptions {
  readonly host: string
  readonly port: number
}

export interface PairPorts {
  readonly io: Io
  /** Says what happens to the programs after their start. */
  readonly tell: (text: string) => void
  /** Gets the way to stop as soon as there is something to stop; calling it again hurries. */
  readonly onStarting: (stop: () => Promise<void>) => void
}

/** A hub and a worker that are kept running. */
export interface Pair {
  readonly hub: HubReady
  readonly worker: { readonly id: string; readonly name: string }
  readonly token: string
  readonly tokenFile: string
  readonly dataFolder: string
  readonly logFolder: string
  /** The context other commands use now. */
  readonly currentContext: string
  readonly isFirstStart: boolean
  readonly greeted: () => Promise<void>
}

/** Starts both and comes back when the worker is connected; what dies later is started again. */
export async function startPair(options: PairOptions, ports: PairPorts): Promise<Pair> {
  const { io } = ports
  const dataFolder = options.data ?? io.config.dataFolder
  const logFolder = join(dataFolder, 'logs')
  const markerFile = join(dataFolder, 'up.json')
  const { tokenFile } = hubPlace(io, options)
  const hub = superviseHub(options, ports, logFolder)
  let worker: ReturnType<typeof superviseWorker> | null = null
  const stop = stopInOrder(hub.supervised, () => worker?.supervised)
  ports.onStarting(stop)
  try {
    await hub.supervised.start()
    const { token, current } = await adoptHub(io, hub.ready().url, tokenFile)
    const marker = await readMarker(markerFile)
    const place = { url: hub.ready().url, token, folder: join(dataFolder, 'worker'), logFolder }
    worker = superviseWorker(options, ports, { ...place, hasJoined: marker.joined === hubMark(token) })
    await worker.supervised.start()
    const kept = { greeted: marker.greeted, joined: hubMark(token) }
    await writeMarker(markerFile, kept)
    return {
      hub: hub.ready(),
      worker: worker.ready(),
      token,
      tokenFile,
      dataFolder,
      logFolder,
      currentContext: current,
      isFirstStart: !marker.greeted,
      greeted: () => writeMarker(markerFile, { ...kept, greeted: true }),
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** A restarted hub keeps its port, also one it was given freely: the worker and the context know it. */
function superviseHub(options: PairOptions, { io, tell }: PairPorts, logFolder: string) {
  const file = programFile(io.programs, 'hub')
  const log = openLogFile(join(logFolder, 'hub.log'))
  let known: HubReady | null = null
  const supervised = new Supervised({
    start: async () => {
      const port = known === null ? options.port : Number(new URL(known.url).port)
      return startProgram(file, hubPlace(io, { ...options, port }).args, log)
    },
    onReady: ready => {
      if (known !== null) tell('the hub is back')
      known = hubReadyOf(ready)
    },
    onDeath: sayDeath('hub', logFolder, tell),
    now: io.now,
  })
  const ready = (): HubReady => {
    if (known === null) throw new Error('a started hub should have said its address, it has not')
    return known
  }
  return { supervised, ready }
}

interface WorkerPlace {
  readonly url: string
  readonly token: string
  readonly folder: string
  readonly logFolder: string
  readonly hasJoined: boolean
}

function superviseWorker(options: PairOptions, { io, tell }: PairPorts, place: WorkerPlace) {
  const file = programFile(io.programs, 'worker')
  const log = openLogFile(join(place.logFolder, 'worker.log'))
  const args = workerArgs(place.url, place.folder, { ...options, allowUnsandboxed: true })
  let known: { id: string; name: string } | null = null
  const supervised = new Supervised({
    start: async () => {
      const hasJoined = known !== null || (place.hasJoined && !(await isNewWorker(place.folder)))
      const secrets: Record<string, string> = hasJoined ? {} : { STOKER_JOIN: await joinToken(place) }
      return startProgram(file, args, log, secrets)
    },
    onReady: ready => {
      if (known !== null) tell('the worker is back')
      known = workerReadyOf(ready)
    },
    onDeath: sayDeath('worker', place.logFolder, tell),
    now: io.now,
  })
  const ready = (): { id: string; name: string } => {
    if (known === null) throw new Error('a started worker should have said its name, it has not')
    return known
  }
  return { supervised, ready }
}

/** The worker first, so that it can tell the hub what became of its jobs; the second time both at once. */
function stopInOrder(hub: Supervised, worker: () => Supervised | undefined): () => Promise<void> {
  let calls = 0
  return async () => {
    calls += 1
    if (calls > 1) void hub.stop()
    await worker()?.stop()
    await hub.stop()
  }
}

function sayDeath(name: string, logFolder: string, tell: (text: string) => void) {
  return (how: string, ms: number) =>
    tell(
      `the ${name} died: ${how}; starting it again in ${(ms / 1000).toFixed(1)} s, see ${join(logFolder, `${name}.log`)}`,
    )
}

async function joinToken({ url, token }: WorkerPlace): Promise<string> {
  const client = createClient({ url, token })
  try {
    return await makeJoinToken(client, 'stoker up')
  } finally {
    client.close()
  }
}

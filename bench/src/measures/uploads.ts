import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { acksDuring } from '../acks-during.ts'
import { startPutPeer } from '../peers/put.ts'
import { largeOutputJob, writeLargeFile } from '../processes/large-file.ts'
import { peakMemoryMbOf } from '../processes/memory-of.ts'
import { stampsIn } from '../processes/stamped-program.ts'
import { tookOf } from '../processes/took-of.ts'
import { race } from '../rounds.ts'
import type { Hub } from '../servers/stoker.ts'
import { quantile } from '../statistics.ts'
import { fineWallClock } from '../wall-clock.ts'
import type { Measure } from './ground.ts'

const MIB = 2 ** 20
const SIZE = 1024 * MIB
const UPLOADER = fileURLToPath(new URL('../processes/upload-program.ts', import.meta.url))

/** A gigabyte on its way to the hub, from a client and from a worker: what it costs those who submit, and how fast it is when nobody does. */
export const measureUploads: Measure = async stage => {
  const busy = await stage.hub()
  await stage.worker(busy, 1)
  const hub = await stage.hub()
  await stage.worker(hub, 1)
  const peer = await startPutPeer(stage.folder('put'))
  stage.atEnd(peer.stop)
  const file = stage.folder('large')
  const put = async (isSynced: boolean) =>
    rateOf(await withLargeFile(file, sha256 => peer.send(file, sha256, isSynced)))
  const p99 = ({ acksMs }: { readonly acksMs: readonly number[] }) => quantile(acksMs, 0.99)
  const figures = await race(
    [
      { name: 'ack beside client', run: async () => p99(await acksBesideClient(busy, file)) },
      { name: 'ack beside worker', run: async () => p99(await artifactOf(busy, work => acksDuring(busy, work))) },
      { name: 'ours', run: async () => rateOf(await artifactOf(hub, work => work())) },
      { name: 'node PUT', run: () => put(false) },
      { name: 'node PUT, synced', run: () => put(true) },
    ],
    { rounds: 3, budgetMs: 60_000, warmUpMs: 0 },
  )
  const of = (name: string) => figures.get(name) ?? []
  return {
    ackBesideUpload: { ours: of('ack beside client'), peers: {} },
    ackBesideArtifact: { ours: of('ack beside worker'), peers: {} },
    artifactRate: {
      ours: of('ours'),
      peers: { 'node PUT': of('node PUT'), 'node PUT, synced': of('node PUT, synced') },
    },
    uploadMemory: { ours: [await peakMemoryMbOf(hub.pid())], peers: {} },
  }
}

function rateOf(ms: number): number {
  return SIZE / MIB / (ms / 1000)
}

async function withLargeFile<T>(file: string, work: (sha256: string) => Promise<T>): Promise<T> {
  const sha256 = await writeLargeFile(file, SIZE)
  try {
    return await work(sha256)
  } finally {
    await rm(file)
  }
}

function acksBesideClient(hub: Hub, file: string) {
  const env = { STOKER_URL: hub.url, STOKER_TOKEN: hub.token }
  return withLargeFile(file, sha256 => acksDuring(hub, () => tookOf('the uploader', [UPLOADER, file, sha256], env)))
}

/** From the moment the program has its file on disk until the job has ended, which it does with the file at the hub. */
async function artifactOf<T>(hub: Hub, during: (upload: () => Promise<number>) => Promise<T>): Promise<T> {
  const now = fineWallClock()
  const { id } = await hub.client.submit(largeOutputJob(SIZE))
  let stamp = Number.NaN
  for await (const event of hub.client.events(id)) {
    if (event.event === 'logs') [stamp = Number.NaN] = stampsIn(JSON.stringify(event.data))
    if (Number.isFinite(stamp)) break
  }
  return during(async () => {
    for await (const event of hub.client.events(id, { output: false })) {
      if (event.event === 'end' && event.job.state !== 'succeeded')
        throw new Error(`the upload should succeed: ${event.job.reason}`)
    }
    return now() - stamp
  })
}

import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { acksDuring } from '../acks-during.ts'
import { type PutPeer, startPutPeer } from '../peers/put.ts'
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

/** A gigabyte on its way to the hub, from a client and from a worker: what it costs those who submit, and how fast it is. */
export const measureUploads: Measure = async stage => {
  const hub = await stage.hub()
  await stage.worker(hub, 1)
  const peer = await startPutPeer(stage.folder('put'))
  stage.undo(peer.stop)
  const file = stage.folder('large')
  const acks = { client: [] as number[], worker: [] as number[] }
  const rates = await race(
    [
      {
        name: 'client',
        run: async () => {
          const { done, acksMs } = await uploadBy(hub, file)
          acks.client.push(quantile(acksMs, 0.99))
          return rateOf(done)
        },
      },
      {
        name: 'ours',
        run: async () => {
          const { done, acksMs } = await artifactOf(hub)
          acks.worker.push(quantile(acksMs, 0.99))
          return rateOf(done)
        },
      },
      { name: 'node PUT', run: async () => rateOf(await putOf(peer, file, false)) },
      { name: 'node PUT, synced', run: async () => rateOf(await putOf(peer, file, true)) },
    ],
    { rounds: 3, budgetMs: 60_000, warmUp: false },
  )
  return {
    ackBesideUpload: { ours: acks.client, peers: {} },
    ackBesideArtifact: { ours: acks.worker, peers: {} },
    artifactRate: {
      ours: rates.get('ours') ?? [],
      peers: {
        'node PUT': rates.get('node PUT') ?? [],
        'node PUT, synced': rates.get('node PUT, synced') ?? [],
      },
    },
    uploadMemory: { ours: [await peakMemoryMbOf(hub.pid())], peers: {} },
  }
}

function rateOf(ms: number): number {
  return SIZE / MIB / (ms / 1000)
}

async function uploadBy(hub: Hub, file: string) {
  const sha256 = await writeLargeFile(file, SIZE)
  const env = { STOKER_URL: hub.url, STOKER_TOKEN: hub.token }
  try {
    return await acksDuring(hub, () => tookOf('the uploader', [UPLOADER, file, sha256], env))
  } finally {
    await rm(file)
  }
}

/** From the moment the program has its file on disk until the job has ended, which it does with the file at the hub. */
async function artifactOf(hub: Hub) {
  const now = fineWallClock()
  const { id } = await hub.client.submit(largeOutputJob(SIZE))
  let stamp = Number.NaN
  for await (const event of hub.client.events(id)) {
    if (event.event === 'logs') [stamp = Number.NaN] = stampsIn(JSON.stringify(event.data))
    if (Number.isFinite(stamp)) break
  }
  return acksDuring(hub, async () => {
    for await (const event of hub.client.events(id, { output: false })) {
      if (event.event !== 'end') continue
      if (event.job.state !== 'succeeded') throw new Error(`the upload should succeed: ${event.job.reason}`)
    }
    return now() - stamp
  })
}

async function putOf(peer: PutPeer, file: string, isSynced: boolean): Promise<number> {
  const sha256 = await writeLargeFile(file, SIZE)
  try {
    return await peer.send(file, sha256, isSynced)
  } finally {
    await rm(file)
  }
}

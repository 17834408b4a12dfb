import { randomBytes } from 'node:crypto'
import { createClient } from '@stoker/client'
import { HostSampler } from '../../../worker/src/probe/host-sampler.ts'
import { FleetWorker } from './fleet-worker.ts'
import { introduce } from './introduce.ts'

/** The process that holds the sockets of a whole fleet; it is ready when the hub has welcomed the last. */
const [hubUrl, token, first, count] = process.argv.slice(2)
if (hubUrl === undefined || token === undefined || count === undefined)
  throw new Error('needs the address of a hub, a token of its admin, the number of the first worker, and how many')

/** As many knock at the door at once as a hub lets one address. */
const AT_ONCE = 16
const SAMPLE_MS = 1000

const client = createClient({ url: hubUrl, token })
const sampler = new HostSampler()
let host = sampler.sample()
setInterval(() => {
  host = sampler.sample()
}, SAMPLE_MS)

let next = Number(first)
const end = next + Number(count)
const lane = async () => {
  while (next < end) {
    const introduction = introduce(next)
    next += 1
    const { secret: join } = await client.createToken({ role: 'join' })
    await new Promise<void>(welcomed => {
      const secret = randomBytes(32).toString('base64url')
      new FleetWorker({ hubUrl, secret, join, introduction, host: () => host, welcomed })
    })
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, lane))
client.close()
process.on('SIGTERM', () => process.exit(0))
process.stdout.write('ready\n')

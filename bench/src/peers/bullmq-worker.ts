import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Worker } from 'bullmq'

/** The worker process of the peer: answers the moment a job started, or runs /bin/true without even keeping its output. */
const [port, queue, concurrency, what] = process.argv.slice(2)
if (port === undefined || queue === undefined) throw new Error('needs a port, a queue, a concurrency and what to do')

const worker = new Worker(queue, what === 'spawn' ? runTrue : async () => Date.now(), {
  connection: { host: '127.0.0.1', port: Number(port) },
  concurrency: Number(concurrency),
})
await worker.waitUntilReady()
process.on('SIGTERM', () => void worker.close().then(() => process.exit(0)))
process.stdout.write('ready\n')

async function runTrue(): Promise<number> {
  const [code] = await once(spawn('/bin/true', { stdio: 'ignore' }), 'exit')
  if (code !== 0) throw new Error(`/bin/true should exit with 0, it exited with ${code}`)
  return 0
}

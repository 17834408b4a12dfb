import { Worker } from 'bullmq'
import { runTrue } from './run-true.ts'

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

import PgBoss from 'pg-boss'
import { rateOf } from '../in-flight.ts'
import { runTrue } from './run-true.ts'

/** The worker process of the peer: large batches, the shortest poll it allows, and no pause while there is work. */
const [connectionString, queue, atOnce, what] = process.argv.slice(2)
if (connectionString === undefined || queue === undefined) throw new Error('needs a URL, a queue and what to do')

const boss = new PgBoss({ connectionString, supervise: false, schedule: false })
boss.on('error', error => void process.stderr.write(`${error.message}\n`))
await boss.start()
const options = { batchSize: 1000, pollingIntervalSeconds: 0.5 }
const worker = await boss.work(queue, options, async jobs => {
  const at = Date.now()
  boss.notifyWorker(worker)
  if (what === 'spawn') await rateOf(jobs.length, Number(atOnce), runTrue)
  // The return value of a batch is kept for a batch of one only.
  if (what === 'stamp') await Promise.all(jobs.map(({ id }) => boss.complete(queue, id, { at })))
})
process.on('SIGTERM', () => void boss.stop({ graceful: false }).then(() => process.exit(0)))
process.stdout.write('ready\n')

import { BeanstalkConnection } from './beanstalk-connection.ts'
import { runTrue } from './run-true.ts'

/** The worker process of the peer: so many connections that each take a job, do it and delete it. */
const [port, connections, what] = process.argv.slice(2)
if (port === undefined || connections === undefined) throw new Error('needs a port, how many at once and what to do')

const open = () => BeanstalkConnection.open(Number(port))
const stamps = what === 'stamp' ? await open() : null
await stamps?.send('USING', 'use stamps')

for (let i = 0; i < Number(connections); i += 1) void workForever(await open())
process.on('SIGTERM', () => process.exit(0))
process.stdout.write('ready\n')

async function workForever(connection: BeanstalkConnection): Promise<never> {
  for (;;) {
    const [, id] = (await connection.send('RESERVED', 'reserve')).words
    if (stamps !== null) await stamps.put(`${id} ${Date.now()}`)
    if (what === 'spawn') await runTrue()
    await connection.send('DELETED', `delete ${id}`)
  }
}

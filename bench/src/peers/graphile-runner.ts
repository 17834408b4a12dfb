import { Logger, run } from 'graphile-worker'

/** The worker process of the peer, with every setting its documentation names for throughput. */
const [connectionString] = process.argv.slice(2)
if (connectionString === undefined) throw new Error('needs a connection string')

const runner = await run({
  preset: {
    worker: {
      connectionString,
      concurrentJobs: 100,
      maxPoolSize: 20,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
      logger: new Logger(() => () => {}),
    },
  },
  taskList: { noop: async () => {} },
  noHandleSignals: true,
})
process.on('SIGTERM', () => void runner.stop().then(() => process.exit(0)))
process.stdout.write('ready\n')

import type { LaunchOrder } from './port.ts'
import { createProcessExecutor, type ProcessExecutorOptions } from './process-executor.ts'

/** A worker for tests: starts what its argument orders, says so, and waits to be killed. */
const { options, orders }: { options: ProcessExecutorOptions; orders: readonly LaunchOrder[] } = JSON.parse(
  process.argv[2] ?? '',
)
const executor = createProcessExecutor(options)
for (const order of orders) await executor.start(order)
console.log('started')
setInterval(() => {}, 60_000)

import { simulate } from './command.ts'
import { runInThreads, serveSeeds } from './in-threads.ts'

if (!serveSeeds())
  process.exitCode = await simulate(
    process.argv.slice(2),
    text => process.stdout.write(`${text}\n`),
    (seeds, threads) => runInThreads(new URL(import.meta.url), seeds, threads),
  )

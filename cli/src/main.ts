import { runCli } from './run-cli.ts'
import { systemIo } from './system-io.ts'

process.exitCode = await runCli(process.argv.slice(2), systemIo(import.meta.dirname))

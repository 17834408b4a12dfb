import { qubixWords } from './alias-words.ts'
import { runCli } from './run-cli.ts'
import { systemIo } from './system-io.ts'

process.exitCode = await runCli(qubixWords(process.argv.slice(2)), systemIo(import.meta.dirname))

import { trainforgeWords } from './alias-words.ts'
import { runCli } from './run-cli.ts'
import { systemIo } from './system-io.ts'

const io = systemIo(import.meta.dirname)
process.exitCode = await runCli(await trainforgeWords(process.argv.slice(2), io), io)

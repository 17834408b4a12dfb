import { simulate } from './command.ts'

process.exitCode = simulate(process.argv.slice(2), text => process.stdout.write(`${text}\n`))

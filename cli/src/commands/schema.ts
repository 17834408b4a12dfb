import { nearest } from '@stoker/protocol'
import type { Command } from 'commander'
import { z } from 'zod'
import type { Cli } from '../command-table.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { OUTPUT_SCHEMAS, type OutputName } from '../output/schemas.ts'

export function define(command: Command, cli: Cli): void {
  command
    .argument('[command...]', 'whose --json output, like list or token create; none: all, by name')
    .action((words: string[]) => {
      const all = Object.fromEntries(Object.entries(OUTPUT_SCHEMAS).map(([name, schema]) => [name, jsonSchema(schema)]))
      const value = words.length === 0 ? all : all[nameOf(words)]
      cli.io.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
    })
}

function nameOf(words: readonly string[]): OutputName {
  const name = words.join(' ')
  if (Object.hasOwn(OUTPUT_SCHEMAS, name)) return name as OutputName
  const names = Object.keys(OUTPUT_SCHEMAS)
  const close = nearest(name, names)
  const hint = close === null ? '' : `; did you mean "${close}"?`
  throw new Failure(`no --json output is named "${name}"${hint} (known: ${names.join(', ')})`, {
    exitCode: EXIT.notFound,
  })
}

/** What is read back: unknown keys are allowed, so that a later version may add some. */
function jsonSchema(schema: z.ZodType): unknown {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
}

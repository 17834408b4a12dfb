import { readFileSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'

export interface ProgramOptions {
  readonly requirements?: string
  readonly python?: string
  readonly ranks?: number | 'gpus'
}

/** What a program in Python may need besides its own files. */
export function withProgramOptions(command: Command): Command {
  return command
    .option('--requirements <file>', 'install the packages of a requirements.txt first, once for all such jobs', textOf)
    .option('--python <version>', 'the Python they are for, like 3.11')
    .option('--ranks <n|gpus>', 'start it so often, or once for each GPU', ranksOf)
}

export function programFields(
  spec: Readonly<Record<string, unknown>>,
  { requirements, python, ranks }: ProgramOptions,
): { readonly environment?: unknown; readonly ranks?: unknown } {
  const before = typeof spec.environment === 'object' && spec.environment !== null ? spec.environment : {}
  const environment = {
    ...before,
    ...(requirements === undefined ? {} : { requirements }),
    ...(python === undefined ? {} : { python }),
  }
  return {
    ...(Object.keys(environment).length === 0 ? {} : { environment }),
    ...(ranks === undefined ? {} : { ranks }),
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new InvalidArgumentError(`It should be a file that can be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function ranksOf(text: string): number | 'gpus' {
  if (text === 'gpus') return text
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('It should be "gpus" or a whole number.')
  return Number(text)
}

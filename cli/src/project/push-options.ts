import type { ProjectChanges } from '@stoker/protocol'
import { type Command, InvalidArgumentError } from 'commander'
import { wholeNumber } from '../spec/spec-options.ts'

/** What the command line can say about a project over its configuration, besides its name. */
export type ChangeOptions = Pick<ProjectChanges, 'resources' | 'workers'>

export function withChangeOptions(command: Command): Command {
  return command
    .option('-r, --resources <json>', 'of a project: resources in place of its own, like \'{"gpu": 0}\'', resourcesOf)
    .option('-w, --workers <n>', 'of a project: how many processes of that size, on one machine', wholeNumber)
}

function resourcesOf(text: string): Readonly<Record<string, unknown>> {
  const value = parsed(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new InvalidArgumentError('It should be a JSON object like {"gpu": 1, "cpu": 2, "memory": "4Gi"}.')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

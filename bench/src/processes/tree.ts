import { fileURLToPath } from 'node:url'
import { type Child, type ChildOptions, startChild } from './child.ts'

const NURSERY = fileURLToPath(new URL('./nursery.py', import.meta.url))

/** For a daemon that leaves processes to nobody: they stay below it, and its stop ends them all. */
export function startTree(python: string, options: ChildOptions): Promise<Child> {
  return startChild({ ...options, command: python, args: [NURSERY, options.command, ...options.args] })
}

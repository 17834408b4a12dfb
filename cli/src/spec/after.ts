import { DependencyKind } from '@stoker/protocol'
import { InvalidArgumentError } from 'commander'

/** A dependency from the command line; `job` is named as everywhere on the command line. */
export interface After {
  readonly job: string
  readonly on: DependencyKind
}

export const AFTER_HELP = `start when that job has succeeded, or with :end or :failure when it has ended so (repeatable)`

export function gatherAfter(text: string, before: readonly After[] = []): After[] {
  const [job = '', on = 'success', ...more] = text.split(':')
  const kind = DependencyKind.safeParse(on)
  if (job === '' || more.length > 0 || !kind.success)
    throw new InvalidArgumentError(`It should look like JOB, JOB:${DependencyKind.options.join(', JOB:')}.`)
  return [...before, { job, on: kind.data }]
}

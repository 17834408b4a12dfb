import type { SweepInput, SweepValue } from '@stoker/protocol'
import { type Command, InvalidArgumentError } from 'commander'
import { wholeNumber } from './spec-options.ts'

export interface SweepOptions {
  readonly array?: SweepInput['array']
  readonly matrix?: Readonly<Record<string, SweepValue[]>>
  readonly maxParallel?: number
}

/** What makes the job of a command line a group. */
export function withSweepOptions(command: Command): Command {
  return command
    .option('--array <n>', 'as a group of n jobs with indices from 0, or over FROM-TO or FROM-TO:STEP', arrayOf)
    .option('--matrix <K=V,V>', 'as a group with every combination of these values (repeatable)', gatherValues)
    .option('--max-parallel <n>', 'how many jobs of the group run at once', wholeNumber)
}

/** The command line wins over the file. */
export function applySweepOptions<Spec extends object>(spec: Spec, of: SweepOptions): Spec {
  const { array, matrix, maxParallel } = of
  return {
    ...spec,
    ...(array === undefined ? {} : { array }),
    ...(matrix === undefined ? {} : { matrix }),
    ...(maxParallel === undefined ? {} : { maxParallel }),
  }
}

function arrayOf(text: string): SweepInput['array'] {
  const [, first, last, step] = /^(\d+)(?:-(\d+)(?::(\d+))?)?$/.exec(text) ?? []
  if (first === undefined) throw new InvalidArgumentError('It should look like 10, 1-10 or 0-100:5.')
  if (last === undefined) return Number(first)
  return { from: Number(first), to: Number(last), ...(step === undefined ? {} : { step: Number(step) }) }
}

function gatherValues(text: string, before: Readonly<Record<string, SweepValue[]>> = {}): Record<string, SweepValue[]> {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('It should look like NAME=VALUE,VALUE.')
  return {
    ...before,
    [text.slice(0, at)]: text
      .slice(at + 1)
      .split(',')
      .map(sweepValue),
  }
}

/** A number only where it is written as one would be shown: `01` and `1e3` stay text. */
function sweepValue(text: string): SweepValue {
  if (text === 'true' || text === 'false') return text === 'true'
  return Number.isFinite(Number(text)) && String(Number(text)) === text ? Number(text) : text
}

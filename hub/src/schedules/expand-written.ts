import { type Expansion, expandSpec, Refused } from '@stoker/protocol'
import { expandPreset, namesPreset, type PresetSource } from '../presets/expand-preset.ts'
import { checkExpansion, NO_PROGRAMS, type ProgramBook } from '../programs/program-book.ts'

/** What a spec that was written may name. */
export interface SpecBooks {
  readonly presets: PresetSource
  /** What the programs of job types take. */
  readonly programs?: ProgramBook | undefined
}

/** Like `expandSpec`, for specs that are kept as they were written; what their programs would refuse is refused. */
export async function expandWritten(
  value: unknown,
  { presets, programs = NO_PROGRAMS }: SpecBooks,
  rest: (done: number) => Promise<void>,
): Promise<Expansion> {
  return checkExpansion(await expandNamed(value, presets, rest), programs)
}

async function expandNamed(
  value: unknown,
  { current, settings }: PresetSource,
  rest: (done: number) => Promise<void>,
): Promise<Expansion> {
  if (!namesPreset(value)) return expandSpec(value, rest)
  try {
    const expanded = expandPreset(value, await current(), settings)
    return 'issues' in expanded ? { ok: false, issues: expanded.issues } : await expandSpec(expanded.spec, rest)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { ok: false, issues: [{ path: 'preset', message: error.message }] }
  }
}

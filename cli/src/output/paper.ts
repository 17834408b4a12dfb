import pc from 'picocolors'
import type { Io, Out } from '../io.ts'

type Colors = ReturnType<typeof pc.createColors>

/** What text is written on: its width (none = endless), its colours, and the time it is read. */
export interface Paper {
  readonly columns: number | undefined
  readonly color: Colors
  readonly now: number
}

export function paperOf(io: Io, out: Out): Paper {
  const { color } = io.config
  return {
    columns: out.columns(),
    color: pc.createColors(color === 'always' || (color === 'auto' && out.isTTY)),
    now: io.now(),
  }
}

import type { OutputStream } from '@stoker/protocol'
import type { Heard, RunKind } from './observation.ts'

/** Something about a program that is wrong (`error`), odd (`warning`) or worth knowing (`note`), with what to do. */
export interface Mistake {
  readonly code: string
  readonly level: 'error' | 'warning' | 'note'
  readonly run: RunKind
  readonly stream: OutputStream | null
  readonly line: number | null
  readonly text: string
  readonly todo: string
}

/** A mistake before it is known in which run it was made. */
export type Found = Omit<Mistake, 'run'>

type Words = Pick<Found, 'code' | 'text' | 'todo'>

export function errorAt(heard: Heard | null, words: Words): Found {
  return { ...place(heard), level: 'error', ...words }
}

export function warningAt(heard: Heard | null, words: Words): Found {
  return { ...place(heard), level: 'warning', ...words }
}

export function note(words: Words): Found {
  return { ...place(null), level: 'note', ...words }
}

function place(heard: Heard | null): Pick<Found, 'stream' | 'line'> {
  return { stream: heard?.stream ?? null, line: heard?.number ?? null }
}

const SHOWN_CHARACTERS = 80

/** The start of a line, for a sentence about it. */
export function quoted(text: string): string {
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
}

/** A command on one line. */
export function titleOf(words: readonly string[]): string {
  return quoted(words.join(' ').replace(/\s+/g, ' '))
}

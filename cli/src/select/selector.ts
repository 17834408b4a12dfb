import { JobState, nearest } from '@stoker/protocol'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'

/** One word that names jobs; `back` counts from the newest, 0 being the newest itself. */
export type Selector =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'newest'; readonly name: string | null; readonly back: number }
  | { readonly kind: 'state'; readonly states: readonly JobState[] }

/** `running` is how people say `active`; a queue to them also holds what waits for a retry. */
const STATE_WORDS: Readonly<Record<string, readonly JobState[]>> = {
  ...Object.fromEntries(JobState.options.map(state => [state, [state]])),
  running: ['active'],
  queued: ['waiting', 'queued'],
}

/** The words completion offers besides ids. */
export const SELECTOR_WORDS: readonly string[] = ['last', ...Object.keys(STATE_WORDS)]

const ID = /^[0-9a-f-]{4,36}$/i
const NEWEST = /^(last|@.+?)(?:~(\d{1,4}))?$/

/** `last`, `last~2`, `@name` or `@name~1`; null for any other word. */
export function parseNewest(word: string): Extract<Selector, { kind: 'newest' }> | null {
  const [, base, back] = NEWEST.exec(word) ?? []
  if (base === undefined) return null
  return { kind: 'newest', name: base === 'last' ? null : base.slice(1), back: Number(back ?? 0) }
}

/** An id or its end, `last`, `last~2`, `@name`, `@name~1`, or the word of a state. */
export function parseSelector(word: string): Selector {
  const states = Object.hasOwn(STATE_WORDS, word) ? STATE_WORDS[word] : undefined
  if (states !== undefined) return { kind: 'state', states }
  const newest = parseNewest(word)
  if (newest !== null) return newest
  if (ID.test(word)) return { kind: 'id', id: word }
  const close = nearest(word, SELECTOR_WORDS)
  throw new Failure(`"${word}" names no job${close === null ? '' : `; did you mean "${close}"?`}`, {
    exitCode: EXIT.notFound,
    code: 'job.not_found',
    details: ['a job is named by its id or the last digits of it, last, last~2, @NAME, or a state such as failed'],
  })
}

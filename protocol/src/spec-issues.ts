import type { z } from 'zod'
import { nearest } from './nearest.ts'

/** One thing wrong with what was sent: where, and a sentence with what was found and what is allowed. */
export interface SpecIssue {
  readonly path: string
  readonly message: string
}

/** Turns schema errors into sentences: an unknown key names its nearest known one, a wrong value shows what was found. */
export function specIssues(
  error: z.ZodError,
  value: unknown,
  knownKeys: (path: string) => readonly string[],
): SpecIssue[] {
  return error.issues.flatMap(issue => fromIssue(issue, value, knownKeys))
}

/** `resources.gpus`, `jobs[3].env.KEY`: the way people write paths. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? String(key) : `${text}.${String(key)}`
  }, '')
}

function fromIssue(
  issue: z.core.$ZodIssue,
  value: unknown,
  knownKeys: (path: string) => readonly string[],
): SpecIssue[] {
  const at = pathText(issue.path)
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(at)
    return issue.keys.map(key => ({ path: at === '' ? key : `${at}.${key}`, message: unknownKey(key, known) }))
  }
  const found = lookUp(value, issue.path)
  const saw = found === undefined ? 'missing' : `found ${abbreviate(found)}`
  return [{ path: at === '' ? '(whole)' : at, message: `${saw}; ${allowed(issue)}` }]
}

function unknownKey(key: string, known: readonly string[]): string {
  const close = nearest(key, known)
  const hint = close === null ? '' : `; did you mean "${close}"?`
  return `unknown key "${key}"${hint} (known: ${known.join(', ')})`
}

function allowed(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_union') {
    const best = issue.errors.map(e => e[0]).find(e => e !== undefined && e.path.length > 0) ?? issue.errors[0]?.[0]
    return best === undefined ? issue.message : allowed(best)
  }
  if (issue.code === 'invalid_value') return `allowed: ${issue.values.map(v => JSON.stringify(v)).join(', ')}`
  if (issue.code === 'invalid_type') return `allowed: ${issue.expected}`
  return issue.message
}

function lookUp(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key], value)
}

function abbreviate(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

import { nearest } from '../nearest.ts'
import type { SpecIssue } from '../spec-issues.ts'

/** What was found wrong, or only odd, while a configuration was read; all of it is told in one go. */
export interface ConfigNotes {
  readonly issues: SpecIssue[]
  readonly warnings: string[]
}

export type ConfigMap = Readonly<Record<string, unknown>>

export function isMap(value: unknown): value is ConfigMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A map of the configuration; a missing one is empty, and keys nobody knows are warned about. */
export function mapAt(notes: ConfigNotes, value: unknown, path: string, known: readonly string[]): ConfigMap {
  if (value === undefined || value === null) return {}
  if (!isMap(value)) return refuse(notes, path, value, 'a map of keys') ?? {}
  for (const key of Object.keys(value)) if (!known.includes(key)) warnUnknown(notes, path, key, known)
  return value
}

export function textAt(notes: ConfigNotes, value: unknown, path: string): string | null {
  if (value === undefined || value === null) return null
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string' && value.trim() !== '' && !value.includes('\0')) return value.trim()
  return refuse(notes, path, value, 'a text')
}

/** A whole number from 0 on, also as a text. */
export function countAt(notes: ConfigNotes, value: unknown, path: string): number | null {
  if (value === undefined || value === null) return null
  const count = typeof value === 'string' ? Number(value.trim() || Number.NaN) : value
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MOST) return count
  return refuse(notes, path, value, `a whole number from 0 to ${MOST}`)
}

/** Far above what any field takes. */
const MOST = 1_000_000_000

/** A list, or a single value in place of one. */
export function listAt(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

export function refuse(notes: ConfigNotes, path: string, value: unknown, allowed: string): null {
  notes.issues.push({ path, message: `found ${shown(value)}; allowed: ${allowed}` })
  return null
}

export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}

function warnUnknown({ warnings }: ConfigNotes, path: string, key: string, known: readonly string[]): void {
  const at = path === '' ? key : `${path}.${key}`
  const close = nearest(key, known)
  warnings.push(`${at.slice(0, 200)} is not known and changes nothing${close === null ? '' : `; is "${close}" meant?`}`)
}

import { type PresetError, specIssues } from '@stoker/protocol'
import { z } from 'zod'
import { knownKeys, PRESET_FILES, type PresetFile } from './preset-files.ts'
import { type Path, readYaml, type YamlFile } from './yaml-file.ts'

/** One entry with the keys that lead to it: a model and a preset, or a name. */
export interface Entry<T> {
  readonly keys: readonly string[]
  readonly value: T
  readonly errorAt: YamlFile['errorAt']
}

export type EntryOf<Name extends PresetFile> = z.output<(typeof PRESET_FILES)[Name]['entry']>

export type ReadEntries<T> =
  | { readonly ok: true; readonly entries: readonly Entry<T>[] }
  | { readonly ok: false; readonly errors: readonly PresetError[] }

/** Reads one of the files; all that is wrong is found in one go, each with its line and column. */
export function readEntries<Name extends PresetFile>(name: Name, text: string): ReadEntries<EntryOf<Name>> {
  const read = readYaml(name, text)
  if (!read.ok) return read
  const { entry, under, depth } = PRESET_FILES[name]
  const top = under === null ? { ok: true as const, value: read.file.value, path: [] } : inside(read.file, under)
  if (!top.ok) return top
  const found = mapsAt(read.file, top.value, top.path, depth)
  const entries: Entry<EntryOf<Name>>[] = []
  const errors = [...found.errors]
  for (const { path, value } of found.maps) {
    const given = withoutNulls(value)
    const parsed = entry.safeParse(given)
    const keys = path.slice(top.path.length).map(String)
    const errorAt = (inner: Path, message: string) => read.file.errorAt([...path, ...inner], message)
    if (parsed.success) entries.push({ keys, value: parsed.data as EntryOf<Name>, errorAt })
    else errors.push(...located(parsed.error, given, entry, keys.join('/'), errorAt))
  }
  return errors.length > 0 ? { ok: false, errors } : { ok: true, entries }
}

function inside({ value, errorAt }: YamlFile, key: string) {
  const isHolder = isMap(value) && Object.hasOwn(value, key)
  const others = isMap(value) ? Object.keys(value).filter(one => one !== key) : []
  const errors = others.map(one => errorAt([one], `unknown key "${one}" (known: ${key})`))
  if (!isHolder) errors.push(errorAt([], `missing "${key}": everything in this file is below it`))
  if (errors.length > 0 || !isHolder) return { ok: false as const, errors }
  return { ok: true as const, value: value[key], path: [key] }
}

interface Found {
  readonly maps: readonly { readonly path: Path; readonly value: Record<string, unknown> }[]
  readonly errors: readonly PresetError[]
}

function mapsAt(file: YamlFile, value: unknown, path: Path, depth: number): Found {
  if (!isMap(value)) {
    const found = JSON.stringify(value)?.slice(0, 60)
    return { maps: [], errors: [file.errorAt(path, `found ${found}; allowed: a map of keys`)] }
  }
  if (depth === 0) return { maps: [{ path, value }], errors: [] }
  const inner = Object.entries(value).map(([key, one]) => mapsAt(file, one, [...path, key], depth - 1))
  return { maps: inner.flatMap(({ maps }) => maps), errors: inner.flatMap(({ errors }) => errors) }
}

/** A key without a value says nothing. */
function withoutNulls(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null))
}

function located(
  error: z.ZodError,
  value: unknown,
  entry: z.ZodType,
  name: string,
  errorAt: YamlFile['errorAt'],
): PresetError[] {
  return error.issues.flatMap(issue => {
    const told = specIssues(new z.ZodError([issue]), value, path => knownKeys(entry, path))
    return told.map(({ path, message }, i) => {
      const key = issue.code === 'unrecognized_keys' ? [issue.keys[i] ?? ''] : []
      const where = path === '(whole)' ? name : `${name}.${path}`
      return errorAt(
        [...issue.path.map(part => (typeof part === 'number' ? part : String(part))), ...key],
        `${where}: ${message}`,
      )
    })
  })
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

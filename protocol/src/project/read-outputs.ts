import { isInnerPath } from '../artifact.ts'
import { type ConfigNotes, isMap, listAt, mapAt, refuse } from './config-notes.ts'

/** What is kept of a project that says nothing of it. */
const USUAL_OUTPUTS = ['outputs/**', 'results/**', 'checkpoints/**']

/** Patterns of the files that artifacts name; a folder means all of it. */
export function readOutputs(notes: ConfigNotes, lists: Readonly<Record<string, unknown>>): readonly string[] {
  const patterns = Object.entries(lists).flatMap(([path, list]) =>
    listAt(list).flatMap((entry, index) => patternsOf(notes, entry, `${path}[${index}]`)),
  )
  return patterns.length === 0 ? USUAL_OUTPUTS : [...new Set(patterns)]
}

function patternsOf(notes: ConfigNotes, entry: unknown, path: string): readonly string[] {
  const named = isMap(entry) ? mapAt(notes, entry, path, ['name', 'type', 'path', 'description']) : { path: entry }
  const given = named.path ?? named.name
  const at = isMap(entry) ? `${path}.path` : path
  if (typeof given !== 'string') return refuse(notes, at, given, 'a path below the project') ?? []
  const clean = given.trim().replace(/^(\.\/)+/, '')
  const isFolder = clean.endsWith('/')
  const bare = clean.replace(/\/+$/, '')
  if (!isInnerPath(bare) || bare.length > 450 || bare.startsWith('!'))
    return refuse(notes, at, given, 'a path below the project, without ".."') ?? []
  if (isFolder) return [`${bare}/**`]
  const last = bare.split('/').at(-1) ?? bare
  return /[.*?[{]/.test(last) ? [bare] : [bare, `${bare}/**`]
}

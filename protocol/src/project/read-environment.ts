import { ImageName } from '../container-spec.ts'
import { type ConfigMap, type ConfigNotes, isMap, listAt, mapAt, refuse, textAt } from './config-notes.ts'

const KEYS = ['python_version', 'base_image', 'env', 'variables', 'requirements']
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

interface ReadEnvironment {
  readonly python: string | null
  readonly image: string | null
  readonly env: Readonly<Record<string, string>>
  readonly packages: readonly string[]
}

export function readEnvironment(notes: ConfigNotes, value: unknown): ReadEnvironment {
  const given = mapAt(notes, value, 'environment', KEYS)
  return {
    python: readPython(notes, given.python_version),
    image: readImage(notes, given.base_image),
    env: {
      ...readVariables(notes, given.env, 'environment.env'),
      ...readVariables(notes, given.variables, 'environment.variables'),
    },
    packages: readPackages(notes, given.requirements, 'environment.requirements'),
  }
}

/** Names of packages, one by one or as lines of a text. */
export function readPackages(notes: ConfigNotes, value: unknown, path: string): readonly string[] {
  return listAt(value).flatMap((entry, index) => {
    const text = textAt(notes, entry, Array.isArray(value) ? `${path}[${index}]` : path)
    return (text ?? '').split('\n').flatMap(line => line.trim() || [])
  })
}

/** Each hyperparameter as a variable `HP_NAME`; the whole of them is in the job's input. */
export function hyperparameterEnv(notes: ConfigNotes, value: unknown): Record<string, string> {
  if (value === undefined || value === null) return {}
  if (!isMap(value)) return refuse(notes, 'hyperparameters', value, 'a map of names and values') ?? {}
  return Object.fromEntries(
    Object.entries(value).map(([name, given]) => [
      `HP_${name.toUpperCase().replaceAll(/[^A-Z0-9_]/g, '_')}`,
      textOf(given).replaceAll('\0', '\uFFFD'),
    ]),
  )
}

function readVariables(notes: ConfigNotes, value: unknown, path: string): Record<string, string> {
  if (value === undefined || value === null) return {}
  if (!isMap(value)) return refuse(notes, path, value, 'a map of names and values') ?? {}
  return Object.fromEntries(Object.entries(value).flatMap(entry => readVariable(notes, path, entry)))
}

function readVariable(notes: ConfigNotes, path: string, [name, value]: [string, unknown]): [string, string][] {
  const at = `${path}.${name.slice(0, 100)}`
  if (!VARIABLE.test(name)) return refuse(notes, at, name, 'a name of letters, digits and _') ?? []
  if (typeof value === 'object' && value !== null) return refuse(notes, at, value, 'a single value') ?? []
  const text = textOf(value)
  return text.includes('\0') ? (refuse(notes, at, value, 'a text without NUL') ?? []) : [[name, text]]
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** `3.9`, `"3.9.7"`; YAML reads an unquoted 3.10 as the number 3.1, and no Python was called that for long. */
function readPython(notes: ConfigNotes, value: unknown): string | null {
  if (value === undefined || value === null) return null
  if (value === 3.1 || value === 3.2) {
    const meant = `${value}0`
    notes.warnings.push(`environment.python_version: ${value} was read as "${meant}"; write it in quotes`)
    return meant
  }
  const version = /^(3\.\d{1,2})(\.\d+)?$/.exec(String(value).trim())?.[1]
  return version ?? refuse(notes, 'environment.python_version', value, 'a version like "3.11"')
}

function readImage(notes: ConfigNotes, value: ConfigMap[string]): string | null {
  const image = textAt(notes, value, 'environment.base_image')
  if (image === null || ImageName.safeParse(image).success) return image
  return refuse(notes, 'environment.base_image', value, 'the name of an image, like "python:3.11-slim"')
}

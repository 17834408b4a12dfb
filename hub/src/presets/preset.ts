import {
  type JobSpec,
  nearest,
  type PresetError,
  type Preset as PresetView,
  Refused,
  type SpecIssue,
} from '@stoker/protocol'
import type { ActionEntry } from './preset-files.ts'

/** How often a program may run as a session of this preset, and for how long. */
interface PresetSession {
  readonly concurrency: number
  readonly queue: number
  readonly idleMs: number
  readonly lifetimeMs: number
  readonly restarts: number
  readonly min: number
  readonly max: number
}

/** A preset as it is in force, of whichever form. */
export interface Preset {
  /** `model/preset`, or the name of a task definition, which has no slash. */
  readonly name: string
  readonly model: string | null
  readonly description: string
  readonly type: PresetView['type']
  readonly difficulty: PresetView['difficulty']
  readonly timeoutMs: number
  readonly metadata: Readonly<Record<string, unknown>>
  readonly program: ActionEntry
  /** Set for presets of both types: a one-off program may be used as a session. */
  readonly session: PresetSession
  readonly file: string
  readonly line: number
}

/** A spec with what its program needs, or what its program would refuse. */
export type CheckSpec = (spec: JobSpec) => { readonly spec: JobSpec } | { readonly issues: readonly SpecIssue[] }

/** All presets of a folder at one moment. */
export interface PresetBook {
  readonly folder: string
  readonly presets: ReadonlyMap<string, Preset>
  readonly errors: readonly PresetError[]
}

/** Throws a refusal that names the nearest preset there is; `path` is where it was asked for. */
export function findPreset({ presets, folder }: PresetBook, name: string, path?: string): Preset {
  const found = presets.get(name)
  if (found !== undefined) return found
  const close = nearest(name, [...presets.keys()])
  const hint = presets.size === 0 ? `${folder} holds none` : close === null ? '' : `did you mean "${close}"?`
  const message = `no preset "${name}"${hint === '' ? '' : `; ${hint}`}`
  throw new Refused('preset.not_found', message, path === undefined ? [] : [{ path, message }])
}

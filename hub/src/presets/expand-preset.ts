import { formatDuration, JobSpecInput, parseDuration, type SpecIssue } from '@stoker/protocol'
import type { NewJob } from '../engine/commands.ts'
import { findPreset, type Preset, type PresetBook } from './preset.ts'
import { type PresetRequest, presetSpec } from './preset-spec.ts'
import type { Settings } from './settings.ts'

/** Presets as whoever reads specs needs them. */
export interface PresetSource {
  readonly current: () => Promise<PresetBook>
  readonly settings: Settings
}

type Written = Readonly<Record<string, unknown>>
type Expanded = { readonly spec: unknown } | { readonly issues: readonly SpecIssue[] }

/** What the preset decides alone. */
const OF_THE_PRESET = [
  'type',
  'command',
  'image',
  'pull',
  'container',
  'mounts',
  'model',
  'isolation',
  'network',
  'task',
]
/** What a task leaves to its session. */
const OF_THE_SESSION = ['env', 'resources', 'placement', 'files', 'outputs', 'secrets']

/** True of a spec that names a preset, or a task for one. */
export function namesPreset(value: unknown): value is Written {
  return typeof value === 'object' && value !== null && presetNameOf(value as Written) !== null
}

/** The full spec that a name of a preset and what is said beside it mean. */
export function expandPreset(value: Written, book: PresetBook, settings: Settings, path = 'preset'): Expanded {
  const name = presetNameOf(value) ?? ''
  if (value.preset === undefined && book.presets.get(name)?.type !== 'session') return { spec: value }
  const preset = findPreset(book, name, path)
  const { task: _, ...said } = value
  const given = value.preset === undefined ? said : value
  const as = given.session === undefined ? 'job' : 'session'
  const isTask = preset.type === 'session' && as === 'job'
  const issues = [...strayKeys(given, preset, isTask), ...wrongMaps(given), ...longTimeout(given, preset, settings)]
  if (issues.length > 0) return { issues }
  return { spec: presetSpec(preset, settings, { ...(given as PresetRequest), as }) }
}

/** Tasks for presets that are defined may wait, as many as all their sessions could take, though none is there yet. */
export async function withPresetQueues(jobs: readonly NewJob[], source: PresetSource): Promise<readonly NewJob[]> {
  const names = (job: NewJob) => job.spec.task?.preset ?? null
  if (!jobs.some(job => names(job) !== null)) return jobs
  const { presets } = await source.current()
  return jobs.map(job => {
    const preset = presets.get(names(job) ?? '')
    if (preset === undefined) return job
    const { concurrency, queue, max } = preset.session
    return { ...job, presetQueue: (concurrency + queue) * max }
  })
}

function presetNameOf({ preset, task }: Written): string | null {
  if (typeof preset === 'string') return preset
  if (preset !== undefined || typeof task !== 'object' || task === null) return null
  return 'preset' in task && typeof task.preset === 'string' ? task.preset : null
}

function strayKeys(given: Written, { name }: Preset, isTask: boolean): SpecIssue[] {
  const fixed = OF_THE_PRESET.filter(key => given[key] !== undefined)
  const kept = isTask ? OF_THE_SESSION.filter(key => given[key] !== undefined) : []
  const free = Object.keys(JobSpecInput.shape).filter(
    key => !['preset', ...OF_THE_PRESET, ...(isTask ? [...OF_THE_SESSION, 'session'] : [])].includes(key),
  )
  return [
    ...fixed.map(path => ({
      path,
      message: `found ${path}; the preset "${name}" says it (beside it: ${free.join(', ')})`,
    })),
    ...kept.map(path => ({
      path,
      message: `found ${path}; "${name}" is a preset of sessions, and a task runs in one as it is`,
    })),
  ]
}

/** What is no duration at all is left for the parser to refuse. */
function longTimeout({ timeout }: Written, { name }: Preset, { maxTimeoutMs }: Settings): SpecIssue[] {
  const ms = typeof timeout === 'string' || typeof timeout === 'number' ? parseDuration(timeout) : null
  if (ms === null || ms <= maxTimeoutMs) return []
  const message = `found ${formatDuration(ms)}; a job of preset "${name}" may take ${formatDuration(maxTimeoutMs)} (MAX_TASK_TIMEOUT)`
  return [{ path: 'timeout', message }]
}

/** Maps are merged with those of the preset; what should be one and is not would vanish in that. */
function wrongMaps(given: Written): SpecIssue[] {
  return ['input', 'env', 'labels', 'resources', 'placement', 'session'].flatMap(path => {
    const value = given[path]
    const isFine = value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value))
    return isFine ? [] : [{ path, message: `found ${JSON.stringify(value)?.slice(0, 80)}; allowed: object` }]
  })
}

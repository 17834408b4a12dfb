import { formatDuration, nearest, type PresetError, parseJobSpec } from '@stoker/protocol'
import type { CheckSpec, Preset } from './preset.ts'
import type { ActionEntry, DefinitionEntry, ModelEntry, PresetEntry, PresetFile } from './preset-files.ts'
import { presetSpec } from './preset-spec.ts'
import type { Entry } from './read-entries.ts'
import type { Settings } from './settings.ts'

/** The good versions of the four files; a file that is not there has no entries. */
export interface Entries {
  readonly 'model_presets.yaml': readonly Entry<PresetEntry>[]
  readonly 'task_definitions.yaml': readonly Entry<DefinitionEntry>[]
  readonly 'task_actions.yaml': readonly Entry<ActionEntry>[]
  readonly 'model_paths.yaml': readonly Entry<ModelEntry>[]
}

interface Made {
  readonly presets: ReadonlyMap<string, Preset>
  /** Presets that are left out: what each says makes no sense beside the other files or the settings. */
  readonly errors: readonly PresetError[]
}

const PRESET_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/
const MODEL_NAME = /^[A-Za-z0-9]([A-Za-z0-9._:/-]{0,198}[A-Za-z0-9._-])?$/

/** What presets are made by. `home` is what `~` means. */
interface Terms {
  readonly settings: Settings
  readonly home: string
  readonly check: CheckSpec
}

/** Joins the files into presets. */
export function makePresets(entries: Entries, terms: Terms): Made {
  const { settings, home } = terms
  const models = new Map(entries['model_paths.yaml'].map(({ keys, value }) => [keys[0] ?? '', value]))
  const drafts = [...entries['model_presets.yaml'].map(fromPreset), ...fromDefinitions(entries)]
  const presets = new Map<string, Preset>()
  const errors: PresetError[] = []
  for (const draft of drafts) {
    const wrong = 'program' in draft ? null : draft.error
    const preset = 'program' in draft ? complete(draft, models, settings, home) : null
    const found = preset === null ? [wrong] : problemsOf(preset, draft, terms)
    if (preset !== null && found.length === 0) presets.set(preset.name, preset)
    errors.push(...found.flatMap(one => one ?? []))
  }
  return { presets, errors }
}

type At = { readonly errorAt: Entry<unknown>['errorAt'] }
type Draft = At &
  Pick<Preset, 'name' | 'model' | 'description' | 'type' | 'difficulty' | 'metadata' | 'program'> & {
    readonly timeoutSeconds: number | undefined
    readonly file: PresetFile
  }
type Flawed = At & { readonly error: PresetError }

function fromPreset({ keys: [model = '', preset = ''], value, errorAt }: Entry<PresetEntry>): Draft | Flawed {
  if (!MODEL_NAME.test(model)) return { errorAt, error: errorAt([], `"${model}" is no name of a model`) }
  if (!PRESET_NAME.test(preset)) return { errorAt, error: errorAt([], `"${preset}" is no name of a preset`) }
  const { description, type, task_difficulty, timeout_seconds, metadata, ...program } = value
  return {
    name: `${model}/${preset}`,
    model,
    description,
    type,
    difficulty: task_difficulty ?? null,
    timeoutSeconds: timeout_seconds,
    metadata,
    program,
    file: 'model_presets.yaml',
    errorAt,
  }
}

function fromDefinitions(entries: Entries): (Draft | Flawed)[] {
  const actions = new Map(entries['task_actions.yaml'].map(({ keys, value }) => [keys[0] ?? '', value]))
  return entries['task_definitions.yaml'].map(({ keys: [name = ''], value, errorAt }) => {
    if (!PRESET_NAME.test(name)) return { errorAt, error: errorAt([], `"${name}" is no name of a task`) }
    const { description, task_type, task_difficulty, timeout_seconds, metadata, model_id } = value
    const program = actions.get(name) ?? (model_id === undefined ? undefined : actions.get(model_id))
    if (program === undefined) {
      const close = nearest(name, [...actions.keys()])
      const looked = model_id === undefined ? `"${name}"` : `"${name}" or its model "${model_id}"`
      const hint = close === null ? '' : `; did you mean "${close}"?`
      return { errorAt, error: errorAt([], `${name}: task_actions.yaml has no action for ${looked}${hint}`) }
    }
    return {
      name,
      model: model_id ?? null,
      description,
      type: task_type,
      difficulty: task_difficulty,
      timeoutSeconds: timeout_seconds,
      metadata,
      program,
      file: 'task_definitions.yaml',
      errorAt,
    }
  })
}

function complete(
  { timeoutSeconds, errorAt, program, ...draft }: Draft,
  models: ReadonlyMap<string, ModelEntry>,
  settings: Settings,
  home: string,
): Preset {
  const { session = {} } = program
  return {
    ...draft,
    line: errorAt([], '').line,
    timeoutMs: timeoutSeconds === undefined ? settings.defaultTimeoutMs : Math.round(timeoutSeconds * 1000),
    program: withPaths(program, draft.model === null ? undefined : models.get(draft.model), home),
    session: {
      concurrency: session.concurrency ?? 1,
      queue: session.queue ?? settings.sessionQueue,
      idleMs: session.idleTimeout ?? settings.sessionIdleMs,
      lifetimeMs: session.maxLifetime ?? settings.sessionLifetimeMs,
      restarts: session.restarts ?? 0,
      min: session.min ?? 0,
      max: session.max ?? Math.max(1, session.min ?? 0),
    },
  }
}

/** What the preset says of its model wins over the list of models. */
function withPaths(program: ActionEntry, listed: ModelEntry | undefined, home: string): ActionEntry {
  const { source_path, model = {} } = program
  const path = model.path ?? listed?.path
  const files = model.files ?? listed?.files
  const known = { ...model, ...(path && { path: expanded(path, home) }), ...(files && { files }) }
  return {
    ...program,
    ...(source_path !== undefined && { source_path: expanded(source_path, home) }),
    ...(Object.keys(known).length > 0 && { model: known }),
  }
}

function expanded(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? `${home}${path.slice(1)}` : path
}

const FILE_KEYS: Readonly<Record<string, string>> = {
  image: 'docker_image',
  env: 'env_vars',
  input: 'metadata',
  type: 'program',
}

/** What only shows when everything is put together: found at load, not at the first run. */
function problemsOf(preset: Preset, { errorAt }: At, { settings, check }: Terms): PresetError[] {
  const { name, type, program, session, timeoutMs } = preset
  const at = (key: string, text: string) => errorAt([key], `${name}.${key}: ${text}`)
  if (program.docker_image === undefined && program.command === undefined && program.program === undefined)
    return [errorAt([], `${name}: found neither docker_image, command nor program; one of them says what to start`)]
  const stray = (['session', 'serves'] as const).filter(key => type === 'oneoff' && program[key] !== undefined)
  const problems = stray.map(key => at(key, `found ${key}; only a preset of type session has it`))
  if (timeoutMs > settings.maxTimeoutMs)
    problems.push(
      at(
        'timeout_seconds',
        `found ${timeoutMs / 1000}; MAX_TASK_TIMEOUT allows ${settings.maxTimeoutMs / 1000} (${formatDuration(settings.maxTimeoutMs)})`,
      ),
    )
  if (session.min > session.max) problems.push(at('session', `found min ${session.min}; max is ${session.max}`))
  if (problems.length > 0) return problems
  const parsed = parseJobSpec(presetSpec(preset, settings, { as: type === 'session' ? 'session' : 'job' }))
  // What a one-off program is asked is whole only with the job; a session is asked nothing.
  const checked = parsed.ok && type === 'session' ? check(parsed.spec) : parsed
  if (!('issues' in checked)) return []
  return checked.issues.map(({ path, message }) => {
    const [key = '', ...rest] = path.split(/[.[]/)
    return errorAt(
      [FILE_KEYS[key] ?? key, ...rest],
      `${name}.${[FILE_KEYS[key] ?? key, ...rest].join('.')}: ${message}`,
    )
  })
}

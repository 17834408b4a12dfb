import type { JobSpecInput } from '@stoker/protocol'
import type { Preset } from './preset.ts'
import type { Settings } from './settings.ts'

/** What a caller says beside the name of a preset; all of it wins over what the preset says. */
export interface PresetRequest extends JobSpecInput {
  /** What the preset becomes: what its type says, or a session whatever its type. */
  readonly as?: 'job' | 'session' | undefined
  readonly difficulty?: Preset['difficulty'] | undefined
}

/** The one way from a preset to a job: a full job, a session, or a task of the sessions of the preset. */
export function presetSpec(preset: Preset, settings: Settings, request: PresetRequest): JobSpecInput {
  const { as = 'job', difficulty, ...given } = request
  const wished = difficulty ?? preset.difficulty
  const common = {
    ...given,
    name: given.name ?? preset.name,
    preset: preset.name,
    input: { ...preset.metadata, ...given.input } as NonNullable<JobSpecInput['input']>,
    ...labelled(given, wished),
  }
  if (as === 'session') {
    const program = programOf(preset, settings, request, wished)
    // What workers' own programs are asked is checked, and a session of them is asked nothing: metadata is for its tasks.
    const input = program.type === undefined ? common.input : given.input
    return { ...common, ...program, ...(input && { input }), session: sessionOf(preset, given) }
  }
  const timeout = given.timeout ?? preset.timeoutMs / 1000
  if (preset.type === 'session') return { ...common, timeout, type: 'task', task: { preset: preset.name } }
  return { ...common, timeout, ...programOf(preset, settings, request, wished) }
}

function labelled({ labels }: JobSpecInput, difficulty: Preset['difficulty']): Pick<JobSpecInput, 'labels'> {
  if (difficulty === null) return labels === undefined ? {} : { labels }
  return { labels: { difficulty, ...labels } }
}

function programOf(
  { name, model: modelId, program }: Preset,
  { taskCpus, taskMemoryBytes }: Settings,
  request: PresetRequest,
  difficulty: Preset['difficulty'],
): JobSpecInput {
  const {
    docker_image: image,
    program: type,
    model,
    env_vars,
    source_path,
    serves: _,
    session: __,
    dockerfile: ___,
    ...rest
  } = program
  const { build_args: ____, resources, placement, ...plain } = rest
  const memory = taskMemoryBytes === null ? {} : { memory: taskMemoryBytes }
  return {
    ...plain,
    ...(type !== undefined && { type }),
    env: { ...(modelId !== null && { MODEL_NAME: modelId }), ...env_vars, ...request.env },
    resources: { cpus: taskCpus, ...memory, ...resources, ...request.resources },
    ...placed(placement, request.placement, difficulty),
    ...(model !== undefined && { model: { name: modelId ?? name, ...model } }),
    ...(image !== undefined && {
      image,
      container: { workdir: 'image', ...program.container },
      // Whoever names the sources builds the image where it runs; no registry has it.
      ...(program.pull === undefined && source_path !== undefined && { pull: 'never' as const }),
    }),
  } as JobSpecInput
}

/** A difficulty is a wish for workers with the tag, never a condition: most fleets have no such tags. */
function placed(
  own: JobSpecInput['placement'],
  asked: JobSpecInput['placement'],
  difficulty: Preset['difficulty'],
): Pick<JobSpecInput, 'placement'> {
  const placement = { ...own, ...asked }
  const { tags = [] } = placement
  const long = Array.isArray(tags) ? (tags.length === 0 ? {} : { require: tags }) : tags
  if (difficulty === null) return Object.keys(placement).length === 0 ? {} : { placement }
  const prefer = [...('prefer' in long ? (long.prefer ?? []) : []), `difficulty:${difficulty}`]
  return { placement: { ...placement, tags: { ...long, prefer } } }
}

function sessionOf({ session }: Preset, { session: asked }: JobSpecInput): NonNullable<JobSpecInput['session']> {
  const { concurrency, queue, idleMs, lifetimeMs, restarts } = session
  return { concurrency, queue, restarts, idleTimeout: idleMs / 1000, maxLifetime: lifetimeMs / 1000, ...asked }
}

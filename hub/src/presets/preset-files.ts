import {
  DIFFICULTIES,
  ImageName,
  JobSpecInput,
  Model,
  PRESET_TYPES,
  PROGRAM_TYPES,
  SERVES,
  SessionInput,
} from '@stoker/protocol'
import { z } from 'zod'

const { command, container, env, isolation, mounts, network, placement, pull, resources } = JobSpecInput.shape
const text = (max: number) => z.string().min(1).max(max)
const Seconds = z.number().positive()
const Metadata = z.record(z.string(), z.json())
const ModelName = Model.shape.name
const ModelFiles = Model.shape.files.unwrap()

/** Of its sessions `min` are there also without a task, and never more than `max`. */
const SessionKeys = SessionInput.extend({
  min: z.int().min(0).max(1000).optional(),
  max: z.int().min(1).max(1000).optional(),
})
const ModelKeys = z.strictObject({
  name: ModelName.optional(),
  path: text(4000).optional(),
  files: ModelFiles.optional(),
})

/** How a program is started: the same words in both forms. */
const program = {
  docker_image: ImageName.optional(),
  /** A program that workers have, by the type of its jobs. */
  program: z.enum(PROGRAM_TYPES).optional(),
  command,
  env_vars: env,
  source_path: text(4000).optional(),
  dockerfile: text(500).optional(),
  build_args: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).optional(),
  serves: z.enum(SERVES).optional(),
  session: SessionKeys.optional(),
  resources,
  placement,
  isolation,
  network,
  container,
  pull,
  mounts,
  model: ModelKeys.optional(),
}

const PresetEntry = z.strictObject({
  description: z.string().max(2000).default(''),
  type: z.enum(PRESET_TYPES).default('oneoff'),
  task_difficulty: z.enum(DIFFICULTIES).optional(),
  timeout_seconds: Seconds.optional(),
  metadata: Metadata.default({}),
  ...program,
})
export type PresetEntry = z.output<typeof PresetEntry>

const DefinitionEntry = z.strictObject({
  description: z.string().max(2000).default(''),
  task_type: z.enum(PRESET_TYPES).default('oneoff'),
  task_difficulty: z.enum(DIFFICULTIES).default('low'),
  timeout_seconds: Seconds.optional(),
  metadata: Metadata.default({}),
  model_id: text(300).optional(),
})
export type DefinitionEntry = z.output<typeof DefinitionEntry>

const ActionEntry = z.strictObject(program)
export type ActionEntry = z.output<typeof ActionEntry>

const ModelEntry = z
  .strictObject({
    path: text(4000).optional(),
    description: z.string().max(2000).optional(),
    size_gb: z.number().min(0).optional(),
    files: ModelFiles.optional(),
  })
  .refine(({ path, files }) => path !== undefined || files !== undefined, 'a model has a path, or files to fetch')
export type ModelEntry = z.output<typeof ModelEntry>

/** The files of a folder of presets, each with the schema of one entry and how deep entries are in it. */
export const PRESET_FILES = {
  'model_presets.yaml': { entry: PresetEntry, under: 'models', depth: 2 },
  'task_definitions.yaml': { entry: DefinitionEntry, under: null, depth: 1 },
  'task_actions.yaml': { entry: ActionEntry, under: null, depth: 1 },
  'model_paths.yaml': { entry: ModelEntry, under: null, depth: 1 },
} as const satisfies Readonly<
  Record<string, { readonly entry: z.ZodType; readonly under: string | null; readonly depth: 1 | 2 }>
>
export type PresetFile = keyof typeof PRESET_FILES

const NESTED: Readonly<Record<string, readonly string[]>> = {
  session: Object.keys(SessionKeys.shape),
  model: Object.keys(ModelKeys.shape),
  container: Object.keys(container.unwrap().shape),
  resources: Object.keys(resources.unwrap().shape),
  placement: Object.keys(placement.unwrap().shape),
}

/** What may stand at a path inside an entry. */
export function knownKeys(entry: z.ZodType, path: string): readonly string[] {
  return NESTED[path] ?? (entry instanceof z.ZodObject && path === '' ? Object.keys(entry.shape) : [])
}

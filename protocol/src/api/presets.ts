import { z } from 'zod'
import { DIFFICULTIES } from '../machine.ts'

export const PRESET_TYPES = ['oneoff', 'session'] as const
export const SERVES = ['chat', 'completion', 'embedding'] as const

/** Something wrong in a file of presets, and where. */
export const PresetError = z.object({
  file: z.string(),
  line: z.int(),
  column: z.int(),
  message: z.string(),
})
export type PresetError = Readonly<z.infer<typeof PresetError>>

/** The sessions of a preset, as the hub keeps them. */
const PresetSessions = z.object({
  concurrency: z.int(),
  queue: z.int(),
  idleTimeoutSeconds: z.number(),
  maxLifetimeSeconds: z.number(),
  restarts: z.int(),
  /** How many are there also without a task. */
  min: z.int(),
  max: z.int(),
  live: z.int(),
  /** Why the last one that was started failed; null once one has come up. */
  lastError: z.string().nullable(),
  /** When the next one is started after failures. */
  nextStartAt: z.iso.datetime().nullable(),
})

export const Preset = z.object({
  /** `model/preset`, or the name of a task definition. */
  name: z.string(),
  model: z.string().nullable(),
  description: z.string(),
  type: z.enum(PRESET_TYPES),
  serves: z.enum(SERVES).nullable(),
  difficulty: z.enum(DIFFICULTIES).nullable(),
  timeoutSeconds: z.number(),
  /** Null: its command runs as a process. */
  image: z.string().nullable(),
  /** What a container of it may have beyond the strictest. */
  relaxed: z.array(z.string()),
  /** Set while workers run containers and none of them has the image: what to do about it. */
  imageMissing: z.string().nullable(),
  sessions: PresetSessions.nullable(),
  /** Where it is written. */
  file: z.string(),
  line: z.int(),
})
export type Preset = Readonly<z.infer<typeof Preset>>

export const PresetDetail = Preset.extend({
  /** The job it becomes, or the session of a session preset. */
  spec: z.record(z.string(), z.json()),
  build: z
    .object({
      sourcePath: z.string(),
      dockerfile: z.string().nullable(),
      args: z.record(z.string(), z.string()),
      /** Builds the image, on a machine that has the sources. */
      command: z.string().nullable(),
    })
    .nullable(),
})
export type PresetDetail = Readonly<z.infer<typeof PresetDetail>>

export const PresetList = z.object({
  folder: z.string(),
  presets: z.array(Preset),
  /** What is wrong in the files now; of a file that cannot be read the last good version stays in force. */
  errors: z.array(PresetError),
  next: z.string().nullable(),
})
export type PresetList = Readonly<z.infer<typeof PresetList>>

/** What `stoker presets check` found in a folder. */
export const PresetCheck = z.object({
  folder: z.string(),
  presets: z.array(z.string()),
  errors: z.array(PresetError),
})
export type PresetCheck = Readonly<z.infer<typeof PresetCheck>>

/** What a program is told in its environment besides its metadata. */
export interface ProgramFacts {
  readonly input: Readonly<Record<string, unknown>>
  /** The spec's or preset's own variables, added as written. */
  readonly env: Readonly<Record<string, string>>
  readonly taskId: string
  /** Null for a one-off: the variable is then absent. */
  readonly sessionId: string | null
  readonly modelName: string
  readonly modelPath: string
  /** Index of the first GPU on its machine; empty without one. */
  readonly gpuDevice: string
}

/** The variables every program gets. Later ones win: defaults, metadata, the spec's own, then what is known for certain. */
export function factsEnv(facts: ProgramFacts): Record<string, string> {
  return {
    PYTHONUNBUFFERED: '1',
    MODEL_NAME: facts.modelName,
    ...metadataEnv(facts.input),
    ...facts.env,
    TASK_ID: facts.taskId,
    ...(facts.sessionId === null ? {} : { SESSION_ID: facts.sessionId }),
    MODEL_PATH: facts.modelPath,
    GPU_DEVICE: facts.gpuDevice,
  }
}

/** `input` as a program reads it: TASK_METADATA is exact, METADATA_* are plain text with Python's spelling of booleans and null. */
function metadataEnv(input: Readonly<Record<string, unknown>>): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [key, value] of Object.entries(input))
    env[`METADATA_${key.toUpperCase().replace(/[^A-Z0-9_]/gu, '_')}`] = plain(value)
  env.TASK_METADATA = JSON.stringify(input)
  return env
}

/** No variable can hold a NUL character: there it is shown as unreadable. */
function plain(value: unknown): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null) return 'None'
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).replaceAll('\0', '\uFFFD')
}

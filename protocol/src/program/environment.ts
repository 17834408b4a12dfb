/** `input` as a program reads it: TASK_METADATA is exact, METADATA_* are plain text with Python's spelling of booleans and null. */
export function metadataEnv(input: Readonly<Record<string, unknown>>): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [key, value] of Object.entries(input))
    env[`METADATA_${key.toUpperCase().replace(/[^A-Z0-9_]/g, '_')}`] = plain(value)
  env.TASK_METADATA = JSON.stringify(input)
  return env
}

function plain(value: unknown): string {
  if (value === true) return 'True'
  if (value === false) return 'False'
  if (value === null) return 'None'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

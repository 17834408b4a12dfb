import { parseSize } from '@stoker/protocol'

const DEFAULT_BYTES = 20e9

/** How much installed packages may take: a few sets with torch. */
export function environmentLimit(text: string | undefined): number {
  const bytes = text === undefined ? DEFAULT_BYTES : parseSize(text)
  if (bytes === null) throw new Error(`--env-limit is a size like 20GB, found ${text}`)
  return bytes
}

import { Refused } from '@stoker/protocol'

/** Deeper than anything meant; much deeper values would exhaust the stack of some reader further in. */
const MAX_DEPTH = 64

/** The value a body is; refuses what is no JSON, and what is nested too deep. */
export function parseJson(text: string): unknown {
  const value = parsed(text)
  if (!isDeeper(value, MAX_DEPTH)) return value
  throw new Refused(
    'request.invalid',
    `the body has values nested deeper than ${MAX_DEPTH} levels, the most that is read`,
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refused('request.invalid', `the body is no JSON: ${(error as Error).message}`)
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some(item => isDeeper(item, levels - 1))
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], levels - 1)) return true
  return false
}

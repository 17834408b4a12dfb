import { Refused } from '@stoker/protocol'
import type { Api } from './context.ts'

/** Deeper than anything meant; much deeper values would exhaust the stack of some reader further in. */
const MAX_DEPTH = 64

/** Bodies are JSON or absent; everything else is told apart from bad JSON. */
export function readJsonBodies(api: Api): void {
  api.removeAllContentTypeParsers()
  api.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text === '' ? undefined : parseBody(text))
    } catch (error) {
      done(error as Error)
    }
  })
}

function parseBody(text: string): unknown {
  const value = parseJson(text)
  if (!isDeeper(value, MAX_DEPTH)) return value
  throw new Refused(
    'request.invalid',
    `the body has values nested deeper than ${MAX_DEPTH} levels, the most that is read`,
  )
}

function parseJson(text: string): unknown {
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

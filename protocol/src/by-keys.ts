import { z } from 'zod'

/** Several times the ways in which the specs of a hub are usually written; a value written yet otherwise is read by the whole schema. */
const MOST_PARTS = 256

/**
 * Reads objects of which every key may be missing, and most are: only what a value has is looked at. A value with a key
 * that the schema does not know, or with anything wrong, is read by the whole, which finds all of it.
 */
export function byKeys<S extends z.ZodObject>(whole: S): (value: unknown) => z.ZodSafeParseResult<z.output<S>> {
  const parts = new Map<string, z.ZodObject>()

  function partFor(keys: readonly string[]): z.ZodObject | undefined {
    const name = keys.join()
    const known = parts.get(name)
    if (known !== undefined || parts.size >= MOST_PARTS) return known
    if (!keys.every(key => Object.hasOwn(whole.shape, key))) return undefined
    const part = z.strictObject(Object.fromEntries(keys.map(key => [key, whole.shape[key]])))
    parts.set(name, part)
    return part
  }

  return value => {
    const part = isPlain(value) ? partFor(Object.keys(value)) : undefined
    const parsed = part?.safeParse(value)
    return parsed?.success === true ? (parsed as z.ZodSafeParseResult<z.output<S>>) : whole.safeParse(value)
  }
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

import { z } from 'zod'
import { parseDuration, parseSize } from './quantity.ts'

const DAY_MS = 86_400_000

/** A size as people write it; comes out in bytes. */
export const size = (what: string) =>
  z.union([z.string(), z.number()]).transform((text, context) => {
    const bytes = parseSize(text)
    if (bytes !== null) return bytes
    context.addIssue({
      code: 'custom',
      message: `${what} is a size of 0 or more like "24GB", "16Gi" or a number of bytes`,
    })
    return z.NEVER
  })

/** A duration as people write it; comes out in milliseconds. */
export const duration = (what: string, maxMs = 30 * DAY_MS) =>
  z.union([z.string(), z.number()]).transform((text, context) => {
    const ms = parseDuration(text)
    if (ms !== null && ms > 0 && ms <= maxMs) return ms
    context.addIssue({
      code: 'custom',
      message: `${what} is a duration like "90s", "10m", "1h30m" or a number of seconds, above 0 and at most ${maxMs / DAY_MS} days`,
    })
    return z.NEVER
  })

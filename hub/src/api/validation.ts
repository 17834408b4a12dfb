import { Refused, specIssues } from '@stoker/protocol'
import type { FastifySchemaCompiler } from 'fastify'
import { z } from 'zod'

/** Checks by the zod schema of a route; what is wrong is told in the same words as for job specs. */
export const checkBySchema: FastifySchemaCompiler<unknown> = ({ schema, httpPart }) => {
  if (!(schema instanceof z.ZodType)) throw new Error(`the ${httpPart} of a route has a schema that is not of zod`)
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const nothing = httpPart === 'querystring' ? Object.freeze(schema.safeParse({}).data) : undefined
  return value => {
    if (nothing !== undefined && isEmpty(value)) return { value: nothing }
    const parsed = schema.safeParse(value)
    if (parsed.success) return { value: parsed.data }
    const errors = specIssues(parsed.error, value, () => known)
    const [first] = errors
    return { error: new Refused('request.invalid', `${first?.path}: ${first?.message}`, errors) }
  }
}

/** Most requests ask for nothing in particular: what that means is known beforehand. */
function isEmpty(value: unknown): boolean {
  for (const _ in value as object) return false
  return true
}

/** For bodies that their handler parses itself: the schema is for the documents only. */
export const checkAllButBody: FastifySchemaCompiler<unknown> = route =>
  route.httpPart === 'body' ? value => ({ value }) : checkBySchema(route)

/** For bodies that become part of a spec: they are checked, and left as they came for the spec to read. */
export const checkAndKeepBody: FastifySchemaCompiler<unknown> = route => {
  const check = checkBySchema(route)
  if (route.httpPart !== 'body') return check
  return value => {
    const checked = check(value)
    return typeof checked === 'object' && 'error' in checked ? checked : { value }
  }
}

/** A transform's own complaint, with the value it is about. */
export function refuseValue(context: z.core.$RefinementCtx, message: string): typeof z.NEVER {
  context.addIssue({ code: 'custom', message, path: [] })
  return z.NEVER
}

import { Refused } from '@stoker/protocol'
import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import { parseJson } from '../../../serving/parse-json.ts'

/** Bodies are JSON whatever their content type says: old clients often leave it out. */
export function readJsonAnyway(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser<string>('*', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text === '' ? undefined : parseJson(text))
    } catch (error) {
      done(error as Error)
    }
  })
}

/** The body or query as its route knows it; what is wrong is said field by field. */
export function readAs<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value ?? {})
  if (parsed.success) return parsed.data
  const told = parsed.error.issues.slice(0, 5).map(issue => {
    const path = issue.path.map(String).join('.')
    return path === '' ? issue.message : `${path}: ${issue.message}`
  })
  throw new Refused('request.invalid', told.join('; '))
}

import { Refused } from '@stoker/protocol'
import type { FastifyInstance } from 'fastify'
import { parseJson } from '../../serving/parse-json.ts'
import { invalidRequest } from './answer-error.ts'

/** Bodies are JSON whatever their content type says: clients of the old service often left it out. */
export function readJsonAnyway(service: FastifyInstance): void {
  service.removeAllContentTypeParsers()
  service.addContentTypeParser<string>('*', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text === '' ? undefined : parseJson(text))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      done(invalidRequest([{ type: 'json_invalid', loc: ['body'], msg: error.message }]))
    }
  })
}

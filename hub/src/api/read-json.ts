import { Refused } from '@stoker/protocol'
import type { Api } from './context.ts'

/** Bodies are JSON or absent; everything else is told apart from bad JSON. */
export function readJsonBodies(api: Api): void {
  api.removeAllContentTypeParsers()
  api.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (_request, text, done) => {
    if (text === '') {
      done(null, undefined)
      return
    }
    try {
      done(null, JSON.parse(text))
    } catch (error) {
      done(new Refused('request.invalid', `the body is no JSON: ${(error as Error).message}`))
    }
  })
}

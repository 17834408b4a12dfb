import { parseJson } from '../serving/parse-json.ts'
import type { Api } from './context.ts'

/** Bodies are JSON or absent; everything else is told apart from bad JSON. */
export function readJsonBodies(api: Api): void {
  api.removeAllContentTypeParsers()
  api.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text === '' ? undefined : parseJson(text))
    } catch (error) {
      done(error as Error)
    }
  })
}

import { z } from 'zod'
import type { Answer, CallOptions, TestHub } from './test-hub.ts'

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: unknown
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >
}

/** The published document, and the routes an answer was checked for. */
export class TestDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly checked = new Set<string>()
  readonly #hub: TestHub

  private constructor(hub: TestHub, paths: TestDocument['paths']) {
    this.#hub = hub
    this.paths = paths
  }

  static async read(hub: TestHub): Promise<TestDocument> {
    const { json } = await hub.call('GET', '/openapi.json', { token: null })
    return new TestDocument(hub, json.paths)
  }

  get operations(): readonly string[] {
    return Object.entries(this.paths).flatMap(([path, methods]) => Object.keys(methods).map(m => `${m} ${path}`))
  }

  /** Calls, and expects the answer to be one the document promises for that route and status. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const answer = await this.#hub.call(method, path, options)
    this.check(method, path, answer)
    return answer
  }

  check(method: string, path: string, answer: Answer): void {
    const template = this.#templateOf(path.split('?', 1)[0] ?? '')
    const responses = this.paths[template]?.[method.toLowerCase()]?.responses
    const { status, type, text } = answer
    const promised = responses?.[status] ?? responses?.[`${String(status).charAt(0)}XX`]
    if (promised === undefined)
      throw new Error(`${method} ${template} answered ${status}, which the document does not promise`)
    this.checked.add(`${method.toLowerCase()} ${template}`)
    if (status === 204 && text === '') return
    const mediaType = type.split(';', 1)[0] ?? ''
    const schema = promised.content?.[mediaType]?.schema
    if (schema === undefined)
      throw new Error(`${method} ${template} answered ${status} as ${mediaType}, not in the document`)
    const parsed = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).safeParse(answer.json ?? text)
    if (!parsed.success)
      throw new Error(`${method} ${template} answered ${text.slice(0, 300)}: ${parsed.error.message}`)
  }

  /** Literal paths before those with a parameter. */
  #templateOf(path: string): string {
    const fits = (template: string) => new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path)
    const template = path in this.paths ? path : Object.keys(this.paths).find(fits)
    if (template === undefined) throw new Error(`the document has no path for ${path}`)
    return template
  }
}

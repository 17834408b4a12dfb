import { z } from 'zod'

/** A route of another service on the hub's listeners, as the hub's document names it. */
export interface DescribedRoute {
  readonly method: 'get' | 'post' | 'delete'
  readonly path: string
  readonly tag: string
  readonly summary: string
  /** The scheme a caller shows its key by; null where none is asked for. */
  readonly security: 'token' | 'key' | null
  readonly body?: z.ZodType | undefined
  /** The media types of a good answer. */
  readonly answers: readonly ('application/json' | 'text/event-stream')[]
  /** What an error is: each service has its own. */
  readonly error: z.ZodType
}

/** The same below a prefix. */
export function below(prefix: string, routes: readonly DescribedRoute[]): readonly DescribedRoute[] {
  return routes.map(route => ({ ...route, path: route.path === '/' ? `${prefix}/` : `${prefix}${route.path}` }))
}

/** As the paths of an OpenAPI document. */
export function pathsOf(routes: readonly DescribedRoute[]): Readonly<Record<string, Readonly<Record<string, object>>>> {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const methods = paths[route.path] ?? {}
    methods[route.method] = operationOf(route)
    paths[route.path] = methods
  }
  return paths
}

function operationOf({ path, tag, summary, security, body, answers, error }: DescribedRoute): object {
  const names = [...path.matchAll(/\{([^}]+)\}/g)].flatMap(([, name]) => name ?? [])
  const failure = { description: 'An error', content: { 'application/json': { schema: schemaOf(error) } } }
  return {
    tags: [tag],
    summary,
    security: security === null ? [] : [{ [security]: [] }],
    ...(names.length === 0
      ? {}
      : { parameters: names.map(name => ({ name, in: 'path', required: true, schema: { type: 'string' } })) }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } } }),
    responses: {
      200: { description: 'Done', content: Object.fromEntries(answers.map(type => [type, { schema: {} }])) },
      '4XX': failure,
      '5XX': failure,
    },
  }
}

/** What a client may write, before defaults are put in. */
function schemaOf(schema: z.ZodType): object {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return described
}

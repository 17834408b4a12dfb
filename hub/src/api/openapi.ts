import swagger from '@fastify/swagger'
import { jsonSchemaTransform } from 'fastify-type-provider-zod'
import { type DescribedRoute, pathsOf } from '../serving/described-route.ts'
import type { Api, ApiContext } from './context.ts'

/** In the order of the reference page. */
const TAGS = [
  'jobs',
  'groups',
  'sessions',
  'schedules',
  'content',
  'webhooks',
  'secrets',
  'workers',
  'owners',
  'tokens',
  'listeners',
  'hub',
  'openai',
  'gpu-service',
]

/** The document is made from the schemas the routes carry; it must be registered before them. */
export async function describeRoutes(api: Api, { version }: ApiContext): Promise<void> {
  await api.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Stoker',
        version,
        description: 'Errors are problem details (RFC 9457) with a stable `code`.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: TAGS.map(name => ({ name })),
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer' },
          key: {
            type: 'apiKey',
            in: 'header',
            name: 'x-api-key',
            description: 'A token of the hub, or INTERNAL_API_KEY',
          },
          worker: { type: 'apiKey', in: 'header', name: 'authorization', description: 'Worker <id>:<secret>' },
        },
      },
      security: [{ token: [] }],
    },
    transform: route => {
      const described = jsonSchemaTransform(route)
      return { ...described, schema: closed(described.schema) as typeof described.schema }
    },
  })
}

type Document = Exclude<ReturnType<Api['swagger']>, string>

/** The document as text, made once: routes do not change after the start. */
export function addOpenApiRoute(api: Api, { described = [] }: ApiContext): void {
  let text: string | null = null
  api.get('/openapi.json', {
    schema: { hide: true },
    handler: async (_request, reply) => {
      text ??= JSON.stringify(withRoutes(api.swagger() as Document, described))
      return reply.header('content-type', 'application/json; charset=utf-8').send(text)
    },
  })
}

/** The document of the API, with the routes of the services beside it. */
function withRoutes(document: Document, described: readonly DescribedRoute[]): object {
  return { ...document, paths: { ...document.paths, ...(closed(pathsOf(described)) as object) } }
}

/** Only "any JSON" refers to anything, namely itself, through a definition that has no place in the document: here it is the schema of anything. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  if ('$ref' in schema) return {}
  const kept = Object.entries(schema).filter(([key]) => key !== '$defs')
  return Object.fromEntries(kept.map(([key, child]) => [key, withContent(key, closed(child))]))
}

/** Problems have their own media type, which the schema of a response does not tell. */
function withContent(key: string, schema: unknown): unknown {
  if (key !== '4xx' && key !== '5xx') return schema
  return { description: 'Problem details', content: { 'application/problem+json': { schema } } }
}

import { expect, it } from 'vitest'
import { z } from 'zod'
import { below, type DescribedRoute, pathsOf } from './described-route.ts'

const route: DescribedRoute = {
  method: 'post',
  path: '/things/{id}',
  tag: 'things',
  summary: 'Make a thing',
  security: 'key',
  body: z.object({ size: z.int().default(3), name: z.string() }),
  answers: ['text/event-stream'],
  error: z.object({ detail: z.string() }),
}

it('describes a route below its prefix: its parameters, its key, and what a client may leave out', () => {
  const paths = pathsOf(below('/x', [route, { ...route, method: 'get', body: undefined, security: null }]))
  expect(paths['/x/things/{id}']).toMatchObject({
    post: {
      tags: ['things'],
      security: [{ key: [] }],
      parameters: [{ name: 'id', in: 'path', required: true }],
      requestBody: { content: { 'application/json': { schema: { required: ['name'] } } } },
      responses: {
        200: { content: { 'text/event-stream': {} } },
        '4XX': { content: { 'application/json': { schema: { required: ['detail'] } } } },
      },
    },
    get: { security: [] },
  })
  expect(Object.keys(pathsOf(below('/x', [{ ...route, path: '/' }])))).toEqual(['/x/'])
})

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { byPrefix } from './by-prefix.ts'

function route(url: string): readonly [string, string | undefined] {
  let met: readonly [string, string | undefined] = ['nobody', undefined]
  const as =
    (name: string): RequestListener =>
    request => {
      met = [name, request.url]
    }
  byPrefix('/gpu', as('inner'), as('outer'))({ url } as IncomingMessage, {} as ServerResponse)
  return met
}

it.each([
  ['/gpu', 'inner', '/'],
  ['/gpu/', 'inner', '/'],
  ['/gpu?a=1', 'inner', '/?a=1'],
  ['/gpu/api/tasks?limit=1', 'inner', '/api/tasks?limit=1'],
  ['/gpus', 'outer', '/gpus'],
  ['/api/v1/jobs', 'outer', '/api/v1/jobs'],
  ['/', 'outer', '/'],
])('%s goes to %s as %s', (url, who, seen) => {
  expect(route(url)).toEqual([who, seen])
})

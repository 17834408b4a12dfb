import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { refuseUpgrade, routeUpgrades } from './upgrades.ts'

const server = createServer()
beforeAll(async () => {
  const saying = (word: string) => ({
    prefix: `/${word}`,
    take: (request: { url?: string | undefined }, socket: Parameters<typeof refuseUpgrade>[0]) =>
      refuseUpgrade(socket, `418 ${word}${request.url}`),
  })
  routeUpgrades(server, [saying('one'), saying('two/deep')])
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  server.close()
  await once(server, 'close')
})

async function answerAt(path: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
  let text = ''
  for await (const part of socket) text += part
  return text.split('\r\n')[0] ?? ''
}

it.each([
  ['/one', '418 one/'],
  ['/one?a=b', '418 one/?a=b'],
  ['/one/t/x', '418 one/t/x'],
  ['/two/deep/', '418 two/deep/'],
  ['/ones', '404 Not Found'],
  ['/two', '404 Not Found'],
  ['/', '404 Not Found'],
])('an upgrade at %s is answered by %s', async (path, answer) => {
  expect(await answerAt(path)).toBe(`HTTP/1.1 ${answer}`)
})

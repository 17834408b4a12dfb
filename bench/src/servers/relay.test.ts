import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { Relay } from './relay.ts'

it('carries both ways, nothing while it is cut, and what was on its way afterwards', async () => {
  const echo = createServer(socket => socket.pipe(socket))
  await new Promise<void>(resolve => echo.listen(0, '127.0.0.1', resolve))
  const relay = await Relay.open(`http://127.0.0.1:${(echo.address() as AddressInfo).port}`)
  const port = Number(new URL(relay.url).port)
  const socket = connect({ host: '127.0.0.1', port })
  const heard: string[] = []
  socket.setEncoding('utf8').on('data', text => heard.push(String(text)))
  socket.write('one')
  await once(socket, 'data')
  relay.cut()
  socket.write('two')
  const late = connect({ host: '127.0.0.1', port })
  late.on('error', () => {})
  await once(late, 'connect')
  expect(heard).toEqual(['one'])
  relay.mend()
  await Promise.all([once(socket, 'data'), once(late, 'close')])
  expect(heard).toEqual(['one', 'two'])
  socket.destroy()
  await relay.close()
  await new Promise(resolve => echo.close(resolve))
})

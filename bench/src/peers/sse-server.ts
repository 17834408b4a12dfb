import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** As little as a server of events can do: every line that is posted goes to all who listen, unread and unkept. */
const viewers = new Set<ServerResponse>()

const server = createServer((request, response) => {
  if (request.method === 'POST') {
    request.setEncoding('utf8')
    let line = ''
    request.on('data', part => {
      line += part
    })
    request.on('end', () => {
      for (const viewer of viewers) viewer.write(`data: ${line}\n\n`)
      response.end()
    })
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write('\n')
  viewers.add(response)
  request.on('close', () => viewers.delete(response))
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`)
})
process.on('SIGTERM', () => process.exit(0))

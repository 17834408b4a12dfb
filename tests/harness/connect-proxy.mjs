import { createServer } from 'node:http'
import { connect } from 'node:net'

/** An HTTP proxy that does nothing but CONNECT, on the given address; it says on stderr where it was asked to go. */
const proxy = createServer((_, reply) => reply.writeHead(405).end())
proxy.on('connect', (request, client) => {
  process.stderr.write(`CONNECT ${request.url}\n`)
  const [host, port] = request.url.split(':')
  const way = connect(Number(port), host, () => {
    client.write('HTTP/1.1 200 OK\r\n\r\n')
    client.pipe(way).pipe(client)
  })
  const breakOff = () => {
    client.destroy()
    way.destroy()
  }
  way.on('error', breakOff)
  client.on('error', breakOff)
})
proxy.listen(0, process.argv[2], () => {
  process.stdout.write(`${JSON.stringify({ ready: true, port: proxy.address().port })}\n`)
})
process.on('SIGTERM', () => process.exit(0))

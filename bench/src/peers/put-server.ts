import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** As little as a server of uploads can do: the body goes to a file, which it keeps, and into a hash, which is the answer. */
const [path] = process.argv.slice(2)
if (path === undefined) throw new Error('needs the path of a file, to which a number is added')

let count = 0
const server = createServer(async (request, response) => {
  const hash = createHash('sha256')
  count += 1
  const file = await open(`${path}.${count}`, 'wx')
  for await (const chunk of request) {
    hash.update(chunk)
    await file.write(chunk)
  }
  if (request.url === '/synced') await file.datasync()
  await file.close()
  response.end(hash.digest('hex'))
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`)
})
process.on('SIGTERM', () => process.exit(0))

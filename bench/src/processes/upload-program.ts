import { createReadStream, statSync } from 'node:fs'
import { createClient } from '@stoker/client'

/** A user of the client library in a process of its own: uploads one file whose hash is known, and says how long it took. */
const [file, sha256] = process.argv.slice(2)
const { STOKER_URL: url, STOKER_TOKEN: token } = process.env
if (file === undefined || sha256 === undefined || url === undefined) throw new Error('needs a file, its hash and a hub')

const client = createClient({ url, token })
process.stdout.write('ready\n')
const startedAt = performance.now()
await client.uploadBlob({
  sha256,
  size: statSync(file).size,
  read: (from, to) => createReadStream(file, { start: from, end: to - 1, highWaterMark: 256 * 1024 }),
})
process.stdout.write(`took ${performance.now() - startedAt}\n`)
client.close()

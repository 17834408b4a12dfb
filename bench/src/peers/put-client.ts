import { createReadStream, statSync } from 'node:fs'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'

/** Sends a file with one plain PUT and says how long it took until the answer was here. */
const [file, url, sha256] = process.argv.slice(2)
if (file === undefined || url === undefined) throw new Error('needs a file, an address and the hash to expect')

process.stdout.write('ready\n')
const startedAt = performance.now()
const answer = await new Promise<string>((resolve, reject) => {
  const headers = { 'content-length': statSync(file).size }
  const sent = request(url, { method: 'PUT', headers }, response => text(response).then(resolve, reject))
  sent.on('error', reject)
  createReadStream(file, { highWaterMark: 256 * 1024 }).pipe(sent)
})
if (answer !== sha256) throw new Error(`the hash should be ${sha256}, the server found ${answer}`)
process.stdout.write(`took ${performance.now() - startedAt}\n`)

import { createWriteStream } from 'node:fs'
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect, it } from 'vitest'
import { useTestFolder } from '../test-folder.ts'
import { unpackArchive } from './unpack-archive.ts'
import { zipFolder, zipOf } from './zip-of.ts'

const folder = useTestFolder()
const part = (path: string, open: () => Promise<Readable>, size = 3) => ({ path, size, executable: false, at: 0, open })

it('makes a zip that unpacks to the folder it was made of', async () => {
  const from = join(folder(), 'from')
  await mkdir(join(from, 'sub'), { recursive: true })
  await writeFile(join(from, 'sub', 'ü.txt'), 'x'.repeat(200_000))
  await writeFile(join(from, 'run.sh'), 'true')
  await writeFile(join(from, '.gitignore'), '*.sh')
  await chmod(join(from, 'run.sh'), 0o755)
  await pipeline(await zipFolder(from, Date.now()), createWriteStream(join(folder(), 'a.zip')))
  await unpackArchive(join(folder(), 'a.zip'), 'zip', join(folder(), 'to'))
  expect(await readFile(join(folder(), 'to', 'sub', 'ü.txt'), 'utf8')).toHaveLength(200_000)
  expect((await stat(join(folder(), 'to', 'run.sh'))).mode & 0o111).not.toBe(0)
})

it('closes the file at hand when nobody reads on', async () => {
  const body = new Readable({ read() {} })
  const zip = zipOf([part('a', async () => body)])
  zip.resume()
  await expect.poll(() => body.listenerCount('data')).toBeGreaterThan(0)
  zip.destroy()
  await expect.poll(() => body.destroyed).toBe(true)
})

it.each([
  ['cannot be opened', () => Promise.reject(new Error('gone'))],
  ['is shorter than it said', async () => Readable.from([Buffer.from('a')])],
  [
    'breaks off',
    async () =>
      new Readable({
        read() {
          this.destroy(new Error('gone'))
        },
      }),
  ],
])('breaks off when a file %s', async (_, open) => {
  await expect(zipOf([part('a', open)]).toArray()).rejects.toThrow()
})

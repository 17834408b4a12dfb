import { createWriteStream } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { expect, it } from 'vitest'
import { untilClosed } from './until-closed.ts'

async function* passed(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* body
}

it('a file that a failed pipeline was opening is open and closed before one goes on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'until-closed-'))
  try {
    const target = createWriteStream(join(folder, 'file'), { flags: 'wx' })
    const source = new Readable({ read: () => source.destroy(new Error('cut off')) })
    await expect(pipeline(source, passed, target).finally(() => untilClosed(target))).rejects.toThrow('cut off')
    expect(target.closed).toBe(true)
    expect(await readdir(folder)).toEqual(['file'])
    await untilClosed(target)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

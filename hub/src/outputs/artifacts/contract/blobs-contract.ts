import { createHash, randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { Refused } from '@stoker/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type BlobKey, type Blobs, UploadCut, WrongOffset } from '../port.ts'
import type { BlobPorts } from '../stored-blobs.ts'
import { BlobTable } from './blob-table.ts'

/** Content under test: `open` opens what the last one left. */
export interface BlobsHouse {
  open(ports: Omit<BlobPorts, 'storage'>): Promise<Blobs>
  end(): Promise<void>
}

const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** What every storage of content promises. */
export function blobsContract(name: string, build: () => Promise<BlobsHouse>): void {
  describe(`${name} content`, () => {
    let house: BlobsHouse
    let table: BlobTable
    let blobs: Blobs
    let now = 0
    let checkRoom: BlobPorts['checkRoom']
    const reopen = async () => {
      blobs = await house.open({
        index: table,
        commit: rows => table.commit(rows),
        now: () => now,
        checkRoom: bytes => checkRoom(bytes),
      })
    }
    beforeEach(async () => {
      house = await build()
      table = new BlobTable()
      now = 1_000_000
      checkRoom = async () => {}
      await reopen()
    })
    afterEach(() => house.end())

    const send = (bytes: Uint8Array, of: { first?: number; last?: number; owner?: string; name?: string } = {}) => {
      const { first = 0, last = bytes.length, owner = 'ada', name = sha(bytes) } = of
      return blobs.put({
        owner,
        sha256: name,
        size: bytes.length,
        first,
        length: last - first,
        body: slices(bytes.subarray(first, last)),
      })
    }
    const readAll = async (key: BlobKey, first: number, last: number) => {
      const parts: Buffer[] = []
      for await (const part of await blobs.read(key, first, last)) parts.push(part)
      return Buffer.concat(parts)
    }
    const keyOf = (bytes: Uint8Array, owner = 'ada') => ({ owner, sha256: sha(bytes) })

    it('keeps content across a restart, by owner', async () => {
      const bytes = randomBytes(2_000_000)
      expect(await send(bytes)).toMatchObject({ stored: { size: bytes.length, at: now } })
      await reopen()
      expect(await blobs.find(keyOf(bytes))).toMatchObject({ size: bytes.length })
      expect((await readAll(keyOf(bytes), 0, bytes.length - 1)).equals(bytes)).toBe(true)
      expect((await readAll(keyOf(bytes), 5, 9)).equals(bytes.subarray(5, 10))).toBe(true)
      expect(await blobs.find(keyOf(bytes, 'bob'))).toBeNull()
      expect([blobs.bytesOf('ada'), blobs.bytesOf('bob')]).toEqual([bytes.length, 0])
    })

    it('goes on after a restart where an upload stood, and checks all of it', async () => {
      const bytes = randomBytes(700_000)
      expect(await send(bytes, { last: 400_000 })).toEqual({ offset: 400_000 })
      await reopen()
      expect(await blobs.offset(keyOf(bytes))).toBe(400_000)
      await expect(send(bytes)).rejects.toEqual(new WrongOffset(400_000, 0))
      expect(await send(bytes, { first: 400_000, last: 500_000 })).toEqual({ offset: 500_000 })
      expect(await send(bytes, { first: 500_000 })).toMatchObject({ stored: { size: 700_000 } })
      expect((await readAll(keyOf(bytes), 0, 699_999)).equals(bytes)).toBe(true)
    })

    it('leaves nothing of content with another hash, and takes the right one afterwards', async () => {
      const bytes = randomBytes(1000)
      const wrong = Buffer.from(bytes)
      wrong[999] = (wrong[999] ?? 0) ^ 1
      await send(bytes, { last: 500 })
      const rest = { first: 500, name: sha(bytes) }
      await expect(send(wrong, rest)).rejects.toMatchObject({ code: 'upload.hash' })
      expect(await blobs.offset(keyOf(bytes))).toBe(0)
      expect(await blobs.find(keyOf(bytes))).toBeNull()
      expect(await send(bytes)).toMatchObject({ stored: { size: 1000 } })
    })

    it('keeps what came when a body breaks off', async () => {
      const bytes = randomBytes(900_000)
      async function* broken() {
        yield [bytes.subarray(0, 600_000)]
        throw new Error('the line is dead')
      }
      const upload = { ...keyOf(bytes), size: bytes.length, first: 0, length: bytes.length }
      await expect(blobs.put({ ...upload, body: broken() })).rejects.toBeInstanceOf(UploadCut)
      expect(await blobs.offset(keyOf(bytes))).toBe(600_000)
      expect(await send(bytes, { first: 600_000 })).toMatchObject({ stored: { size: bytes.length } })
    })

    it('stores one content once however many send it at the same time', async () => {
      const bytes = randomBytes(300_000)
      const answers = await Promise.all(Array.from({ length: 10 }, () => send(bytes)))
      expect(answers).toHaveLength(10)
      expect(blobs.bytesOf('ada')).toBe(bytes.length)
      expect(table.commits.filter(row => row.op === 'put')).toHaveLength(1)
      expect((await readAll(keyOf(bytes), 0, bytes.length - 1)).equals(bytes)).toBe(true)
    })

    it('adopts content whose row was lost in a crash', async () => {
      const bytes = randomBytes(1000)
      table.fail = new Error('crash before the commit')
      await expect(send(bytes)).rejects.toThrow('crash before the commit')
      table.fail = null
      await reopen()
      expect(await blobs.find(keyOf(bytes))).toBeNull()
      expect(await send(bytes)).toMatchObject({ stored: { size: 1000 } })
      expect((await readAll(keyOf(bytes), 0, 999)).equals(bytes)).toBe(true)
      expect(blobs.bytesOf('ada')).toBe(1000)
    })

    it('refuses before the disk is full, also in the middle, and leaves nothing', async () => {
      const bytes = randomBytes(20 * 1024 * 1024)
      const asked: number[] = []
      checkRoom = async left => {
        asked.push(left)
        if (left < bytes.length) throw new Refused('disk.full', 'no room')
      }
      await expect(send(bytes)).rejects.toMatchObject({ code: 'disk.full' })
      expect(asked[0]).toBe(bytes.length)
      expect(await blobs.offset(keyOf(bytes))).toBe(0)
    })

    it('never removes what is held, and removes the rest with its row and bytes', async () => {
      const [held, free] = [randomBytes(10), randomBytes(20)]
      await send(held)
      await send(free)
      const hold = await blobs.hold('ada', [sha(held), sha(randomBytes(5))])
      expect([...hold.found.keys()]).toEqual([sha(held)])
      const rows = await table.blobs('ada', [sha(held), sha(free)])
      expect(await blobs.remove(rows, async asked => asked)).toEqual({ count: 1, bytes: 20 })
      expect(await blobs.find(keyOf(free))).toBeNull()
      expect(blobs.bytesOf('ada')).toBe(10)
      hold.release()
      expect(await blobs.remove(rows.slice(0, 1), async () => [])).toEqual({ count: 0, bytes: 0 })
      expect((await readAll(keyOf(held), 0, 9)).equals(held)).toBe(true)
      expect(await send(free)).toMatchObject({ stored: { size: 20 } })
    })

    it('answers whoever asks during a removal only after it', async () => {
      const bytes = randomBytes(10)
      await send(bytes)
      const rows = await table.blobs('ada', [sha(bytes)])
      let goOn = () => {}
      const pause = new Promise<void>(resolve => {
        goOn = resolve
      })
      const removal = blobs.remove(rows, async asked => {
        await pause
        return asked
      })
      const order: string[] = []
      const holding = blobs.hold('ada', [sha(bytes)]).then(({ found }) => order.push(`held ${found.size}`))
      await turn()
      order.push('removing')
      goOn()
      await removal
      await holding
      expect(order).toEqual(['removing', 'held 0'])
    })

    it('notes that content is used again, but not at every use', async () => {
      const bytes = randomBytes(10)
      await send(bytes)
      now += 3_600_000
      await send(bytes)
      await send(bytes)
      expect((await table.blobs('ada', [sha(bytes)]))[0]).toMatchObject({ at: 1_000_000, usedAt: now })
      expect(table.commits).toHaveLength(2)
    })

    it('takes content of no bytes', async () => {
      expect(await send(Buffer.alloc(0))).toMatchObject({ stored: { size: 0 } })
    })
  })
}

async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array[]> {
  const [list, chunk] = [524_288, 65_536]
  for (let from = 0; from < bytes.length; from += list) {
    const part = bytes.subarray(from, from + list)
    yield Array.from({ length: Math.ceil(part.length / chunk) }, (_, i) => part.subarray(i * chunk, (i + 1) * chunk))
  }
}

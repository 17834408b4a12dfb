import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { PieceWriter } from './piece-writer.ts'

const MIB = 1024 * 1024
const block = Buffer.alloc(MIB, 'x')

function aFile(of: { sync?: () => Promise<void>; append?: () => Promise<void> } = {}) {
  const written: Uint8Array[] = []
  return {
    written,
    append: async (chunks: readonly Uint8Array[]) => {
      await of.append?.()
      written.push(...chunks)
    },
    sync: of.sync ?? (async () => {}),
    close: async () => {},
  }
}

const aSession = () => ({ hash: createHash('sha256'), length: 0, synced: 0 })
const noCheck = async () => {}

describe('a piece', () => {
  it('is in the file in its order, hashed and synced when it is finished', async () => {
    const [file, session] = [aFile(), aSession()]
    const writer = new PieceWriter(session, file, noCheck)
    const bytes = Buffer.from(Array.from({ length: 3 * MIB }, (_, i) => i % 251))
    for (let at = 0; at < bytes.length; at += 65_536) await writer.take([bytes.subarray(at, at + 65_536)])
    await writer.finish()
    expect(Buffer.concat(file.written).equals(bytes)).toBe(true)
    expect(session).toMatchObject({ length: bytes.length, synced: bytes.length })
    expect(session.hash.digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'))
  })

  it('goes on while a sync runs, but never far ahead of it', async () => {
    let release = () => {}
    const syncing = new Promise<void>(resolve => {
      release = resolve
    })
    const [file, session] = [aFile({ sync: () => syncing }), aSession()]
    const writer = new PieceWriter(session, file, noCheck)
    let taken = 0
    const taking = (async () => {
      for (; taken < 40; taken += 1) await writer.take([block])
      await writer.finish()
    })()
    for (let i = 0; i < 200; i += 1) await turn()
    expect(session.synced).toBe(0)
    expect(taken).toBeGreaterThan(8)
    expect(taken).toBeLessThan(20)
    release()
    await taking
    expect(session).toMatchObject({ length: 40 * MIB, synced: 40 * MIB })
  })

  it.each(['append', 'sync'] as const)('whose %s fails is not taken any further', async what => {
    const fail = async () => {
      throw new Error('the disk is broken')
    }
    const writer = new PieceWriter(aSession(), aFile({ [what]: fail }), noCheck)
    const taking = async () => {
      for (let i = 0; i < 40; i += 1) await writer.take([block])
      await writer.finish()
    }
    await expect(taking()).rejects.toThrow('the disk is broken')
  })

  it('ends where there is no room for the rest', async () => {
    const noRoom = async () => {
      throw new Error('no room')
    }
    const writer = new PieceWriter(aSession(), aFile(), noRoom)
    const taking = async () => {
      for (let i = 0; i < 40; i += 1) {
        await writer.take([block])
        await turn()
      }
    }
    await expect(taking()).rejects.toThrow('no room')
  })
})

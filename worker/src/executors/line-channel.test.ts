import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openChannel } from './line-channel.ts'
import { createProcessExecutor } from './process-executor.ts'

describe('a line channel', () => {
  let folder: string
  let server: Server
  let arrived: Promise<Socket>
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stoker-'))
    server = createServer()
    arrived = new Promise(resolve => server.once('connection', resolve))
    await new Promise<void>(resolve => server.listen(join(folder, 's'), resolve))
  })
  afterEach(async () => {
    await new Promise(resolve => server.close(resolve))
    await rm(folder, { recursive: true })
  })

  it('puts messages together that arrive in pieces', async () => {
    const heard: unknown[] = []
    const done = new Promise<void>(resolve => {
      const onMessage = (message: unknown) => void (heard.push(message) === 3 && resolve())
      void openChannel(join(folder, 's'), { onMessage, onClose: () => {} })
    })
    const socket = await arrived
    const bytes = Buffer.from('{"text":"ü"}\n{"n":1}\n{"n":2}\n')
    for (const byte of bytes) await new Promise(resolve => socket.write(Buffer.from([byte]), resolve))
    await done
    expect(heard).toEqual([{ text: 'ü' }, { n: 1 }, { n: 2 }])
    socket.destroy()
  })

  it('says once that it has ended, whoever ended it', async () => {
    let ends = 0
    const channel = await openChannel(join(folder, 's'), { onMessage: () => {}, onClose: () => void ends++ })
    const socket = await arrived
    socket.on('end', () => socket.end()).resume()
    await channel?.close()
    await channel?.close()
    expect(ends).toBe(1)
  })

  it('is null when nobody listens', async () => {
    expect(await openChannel(join(folder, 'nobody'), { onMessage: () => {}, onClose: () => {} })).toBeNull()
  })

  it('is null when whoever listens is killed before it took the call', async () => {
    const path = join(folder, 'killed')
    const listens = `import socket, time; s = socket.socket(socket.AF_UNIX); s.bind(${JSON.stringify(path)}); s.listen(); print(1, flush=True); time.sleep(60)`
    const listener = spawn('python3', ['-c', listens], { stdio: ['ignore', 'pipe', 'inherit'] })
    const gone = new Promise(resolve => listener.once('exit', resolve))
    await new Promise(resolve => listener.stdout.once('data', resolve))
    const opening = openChannel(path, { onMessage: () => {}, onClose: () => {} })
    listener.kill('SIGKILL')
    while (!/\) [ZX]/.test(readFileSync(`/proc/${listener.pid}/stat`, 'utf8'))) {}
    expect(await opening).toBeNull()
    await gone
  })

  it('names both lengths when a folder is too long for a socket', () => {
    const runtimeDir = `/tmp/${'x'.repeat(100)}`
    const create = () => createProcessExecutor({ runtimeDir, python: 'python3', slots: 1 })
    expect(create).toThrow('has 118 bytes, at most 107 fit')
  })
})

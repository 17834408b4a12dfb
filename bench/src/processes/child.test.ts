import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startChild } from './child.ts'
import { findProgram } from './find-program.ts'
import { stopAllChildren } from './living.ts'
import { memoryMbOf } from './memory-of.ts'

const node = (code: string, ready = /^ready/) =>
  startChild({ name: 'the program', command: process.execPath, args: ['-e', code], ready })

describe('a child', () => {
  it('is there when it said so, can be measured, and is gone after its stop', async () => {
    const child = await node(`console.log('ready 7'); setInterval(() => {}, 1000)`)
    expect(child.readyLine).toBe('ready 7')
    expect(await memoryMbOf(child.pid)).toBeGreaterThan(1)
    await child.stop()
    expect(existsSync(`/proc/${child.pid}`)).toBe(false)
    await child.stop()
  })

  it('is killed even if it does not hear its stop signal', async () => {
    const child = await node(`process.on('SIGTERM', () => {}); console.log('ready'); setInterval(() => {}, 1000)`)
    await child.kill()
    expect(existsSync(`/proc/${child.pid}`)).toBe(false)
  })

  it('that ends before it serves fails the start with its last words', async () => {
    await expect(node(`console.error('no room'); process.exit(3)`)).rejects.toThrow(
      'the program should serve, it ended with 3: no room',
    )
  })

  it('that is still starting is stopped with all others', async () => {
    const starting = node(`setInterval(() => {}, 1000)`)
    const failure = starting.catch((error: Error) => error.message)
    await stopAllChildren()
    expect(await failure).toContain('the program should serve, it ended with SIGTERM')
  })

  it('that does not exist fails the start', async () => {
    const missing = startChild({ name: 'nobody', command: '/does/not/exist', args: [], ready: /x/ })
    await expect(missing).rejects.toThrow('ENOENT')
  })
})

it('finds a program along the path, and says null where there is none', () => {
  expect(findProgram('sh', '/nowhere:/bin')).toBe('/bin/sh')
  expect(findProgram('no-such-program', '/bin')).toBeNull()
})

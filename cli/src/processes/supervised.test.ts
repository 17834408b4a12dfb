import { expect, test } from 'vitest'
import type { Program } from './program.ts'
import { Supervised } from './supervised.ts'

/** A program whose life the test decides. */
function aProgram(ready: Promise<Readonly<Record<string, unknown>>> = Promise.resolve({ ready: true })) {
  let end = (_: { code: number | null; signal: string | null }) => {}
  const kills: string[] = []
  const ended = new Promise<{ code: number | null; signal: string | null }>(resolve => {
    end = resolve
  })
  const program: Program = {
    ready,
    ended,
    lastWords: () => '',
    kill(signal) {
      kills.push(signal)
      end({ code: 0, signal: null })
    },
  }
  return { program, kills, die: () => end({ code: 70, signal: null }) }
}

test('a program that dies again and again waits longer each time, until it lived long enough', async () => {
  const programs = [aProgram(), aProgram(), aProgram(), aProgram()]
  const delays: number[] = []
  let now = 0
  let starts = 0
  let next = () => {}
  const supervised = new Supervised({
    start: async () => (programs[starts++] ?? aProgram()).program,
    onReady: () => next(),
    onDeath: (_, ms) => delays.push(ms),
    now: () => now,
    backoff: { baseMs: 4, maxMs: 64 },
    random: () => 1,
  })
  await supervised.start()
  for (const [index, livedMs] of [0, 0, 60_000].entries()) {
    const isBack = new Promise<void>(resolve => {
      next = resolve
    })
    now += livedMs
    programs[index]?.die()
    await isBack
  }
  await supervised.stop()
  expect(delays).toEqual([4, 8, 4])
  expect(programs[3]?.kills).toEqual(['SIGTERM'])
})

test('a program that ends before it was ever ready is not started again', async () => {
  let starts = 0
  const supervised = new Supervised({
    start: async () => {
      starts += 1
      return aProgram(Promise.reject(new Error('the folder is locked'))).program
    },
    onReady: () => {},
    onDeath: () => {},
    now: () => 0,
  })
  await expect(supervised.start()).rejects.toThrow('the folder is locked')
  expect(starts).toBe(1)
})

test('a stop during the wait after a death starts nothing more', async () => {
  const first = aProgram()
  let starts = 0
  let died = () => {}
  const isDead = new Promise<void>(resolve => {
    died = resolve
  })
  const supervised = new Supervised({
    start: async () => {
      starts += 1
      return first.program
    },
    onReady: () => {},
    onDeath: () => died(),
    now: () => 0,
    backoff: { baseMs: 60_000, maxMs: 60_000 },
  })
  await supervised.start()
  first.die()
  await isDead
  await supervised.stop()
  expect(starts).toBe(1)
})

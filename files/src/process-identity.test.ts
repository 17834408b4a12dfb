import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { bootId, processStart } from './process-identity.ts'

test('the boot id and the start of a process stay the same', async () => {
  expect(await bootId()).toBe(await bootId())
  expect(await bootId()).not.toBe('')
  expect(await processStart(process.pid)).toBe(await processStart(process.pid))
  expect(await processStart(process.pid)).not.toBeNull()
})

test('a name full of spaces and parentheses does not shift the start time', async () => {
  const child = spawn('sleep', ['60'], { argv0: 'sleep' })
  const odd = spawn(process.execPath, [
    '-e',
    'process.title = ") R 1 (x"; console.log("on"); setInterval(() => {}, 9e6)',
  ])
  await once(odd.stdout, 'data')
  const starts = await Promise.all([processStart(child.pid ?? 0), processStart(odd.pid ?? 0)])
  for (const one of [child, odd]) one.kill('SIGKILL')
  await Promise.all([once(child, 'close'), once(odd, 'close')])
  expect(Math.abs(Number(starts[0]) - Number(starts[1]))).toBeLessThan(1_000)
})

test('a process that ended has no start', async () => {
  const child = spawn('true')
  await once(child, 'close')
  expect(await processStart(child.pid ?? 0)).toBeNull()
})

test('a zombie counts as gone although its pid is still taken', async () => {
  const script = 'import os, time\npid = os.fork()\nif pid == 0: os._exit(0)\nprint(pid, flush=True)\ntime.sleep(60)'
  const parent = spawn('python3', ['-c', script])
  const [text] = await once(parent.stdout, 'data')
  const zombie = Number(String(text))
  await expect.poll(() => processStart(zombie)).toBeNull()
  expect(() => process.kill(zombie, 0)).not.toThrow()
  parent.kill('SIGKILL')
  await once(parent, 'close')
})

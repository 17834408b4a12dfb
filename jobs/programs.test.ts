import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

test.each(['loading', 'echo-chat'])('the copy of emit.py in %s is the one of the house', async name => {
  const [own, copy] = await Promise.all(
    ['emit', name].map(folder => readFile(join(import.meta.dirname, folder, 'emit.py'), 'utf8')),
  )
  expect(copy).toBe(own)
})

test.each(['emit', 'loading', 'echo-chat'])('the tests of jobs/%s pass', async name => {
  const { stderr } = await run('python3', ['-B', '-W', 'error', '-m', 'unittest'], {
    cwd: join(import.meta.dirname, name),
  })
  expect(stderr).toMatch(/Ran [1-9]\d* tests? in .*\n\nOK\n$/)
})

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

test('the copy of emit.py in the example is the one of the house', async () => {
  const [own, copy] = await Promise.all(
    ['emit', 'loading'].map(name => readFile(join(import.meta.dirname, name, 'emit.py'), 'utf8')),
  )
  expect(copy).toBe(own)
})

test.each(['emit', 'loading'])('the tests of jobs/%s pass', async name => {
  const { stderr } = await run('python3', ['-B', '-W', 'error', '-m', 'unittest'], {
    cwd: join(import.meta.dirname, name),
  })
  expect(stderr).toMatch(/Ran [1-9]\d* tests? in .*\n\nOK\n$/)
})

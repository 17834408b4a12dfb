import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { type MlEnvironment, mlEnvironment } from '../tests/harness/ml-environment.ts'

const run = promisify(execFile)
/** Every folder that says of itself what type of job it is. */
const PROGRAMS = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter(entry => entry.isDirectory() && readdirSync(join(import.meta.dirname, entry.name)).includes('program.json'))
  .map(entry => entry.name)
/** The first run installs PyTorch. */
const INSTALL_MS = 25 * 60_000
/** The longest took 270 s where eight programs shared each core. */
const SUITE_MS = 15 * 60_000

let environment: MlEnvironment

beforeAll(async () => {
  environment = await mlEnvironment(PROGRAMS)
}, INSTALL_MS)

test('all that need packages have the same requirements, so that one environment serves them all', async () => {
  const files = PROGRAMS.filter(name => name !== 'compute').map(name =>
    readFile(join(import.meta.dirname, name, 'requirements.txt'), 'utf8'),
  )
  expect(new Set(await Promise.all(files)).size).toBe(1)
})

test.each(PROGRAMS)('jobs/%s says of itself what others need to know', async name => {
  const manifest = JSON.parse(await readFile(join(import.meta.dirname, name, 'program.json'), 'utf8'))
  expect(manifest).toEqual({
    type: name === 'fine_tuning' ? 'fine-tuning' : name,
    title: expect.any(String),
    inputs: expect.any(Object),
    needs: {
      gpu: expect.stringMatching(/^(none|optional|required)$/),
      minMemoryMb: expect.any(Number),
      minDiskMb: expect.any(Number),
      network: expect.stringMatching(/^(none|internet)$/),
    },
    sessions: expect.any(Boolean),
    ...('ranks' in manifest ? { ranks: expect.any(Boolean) } : {}),
  })
  for (const input of Object.values<Record<string, unknown>>(manifest.inputs)) {
    expect(input.type).toMatch(/^(integer|number|string|boolean|any)$/)
    expect(input).toHaveProperty('default')
    expect(input.description).toEqual(expect.any(String))
  }
})

/** Two at once, each with one thread: their models are too small to keep two cores busy. */
test.concurrent.for(['lib', ...PROGRAMS])('the tests of jobs/%s pass', { timeout: SUITE_MS }, async (name, context) => {
  if ('reason' in environment) return context.skip(environment.reason)
  const { stderr } = await run(environment.python, ['-B', '-m', 'unittest'], {
    cwd: join(import.meta.dirname, name),
    env: { ...process.env, OMP_NUM_THREADS: '1' },
  })
  expect(stderr).toMatch(/Ran [1-9]\d* tests? in .*\n\nOK\n$/)
})

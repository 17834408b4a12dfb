import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { applySpecOptions, type SpecOptions, withSpecOptions } from './spec-options.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-cli-'))
})
afterEach(() => rm(folder, { recursive: true }))

function specOf(spec: Record<string, unknown>, ...words: readonly string[]): unknown {
  const command = withSpecOptions(new Command().exitOverride().configureOutput({ writeErr: () => {} }))
  return applySpecOptions(spec, command.parse([...words], { from: 'user' }).opts<SpecOptions>())
}

it('packages and ranks of a job are said on the command line', async () => {
  const file = join(folder, 'requirements.txt')
  await writeFile(file, 'six\n')
  expect(specOf({}, '--requirements', file, '--python', '3.11', '--ranks', 'gpus')).toMatchObject({
    environment: { requirements: 'six\n', python: '3.11' },
    ranks: 'gpus',
  })
  expect(specOf({ environment: { requirements: 'a' } }, '--python', '3.12', '--ranks', '4')).toMatchObject({
    environment: { requirements: 'a', python: '3.12' },
    ranks: 4,
  })
  expect(specOf({ command: 'x' })).not.toHaveProperty('environment')
})

it.each([
  ['--requirements', '/no/such/file'],
  ['--ranks', 'some'],
  ['--ranks', '0'],
])('%s %s is refused', (...words) => {
  expect(() => specOf({}, ...words)).toThrow(/It should be/)
})

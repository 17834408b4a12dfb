import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { checkProgram, PROGRAM_TYPES, ProgramManifest, parseJobSpec } from '@stoker/protocol'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const EXAMPLES = resolve(import.meta.dirname, '..', 'examples')
/** What examples/mnist.yaml leaves, for those that go on from it. */
const MADE_BY_OTHERS = 'mnist-outputs/'

interface Example {
  readonly type: string
  readonly files?: readonly (string | { readonly from: string })[]
}

const examples = readdirSync(EXAMPLES)
  .filter(name => name.endsWith('.yaml') && !name.endsWith('.preset.yaml'))
  .map(name => ({ name, example: parse(readFileSync(join(EXAMPLES, name), 'utf8')) as Example }))

test('every type of program has an example', () => {
  expect([...new Set(examples.map(({ example }) => example.type))].sort()).toEqual([...PROGRAM_TYPES].sort())
})

test.each(examples)('examples/$name is a job that its program takes', ({ example: { files = [], ...written } }) => {
  const parsed = parseJobSpec(written)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  const folder = written.type.replaceAll('-', '_')
  const manifest = readFileSync(join(import.meta.dirname, folder, 'program.json'), 'utf8')
  expect(checkProgram(ProgramManifest.parse(JSON.parse(manifest)), parsed.spec)).toEqual([])
  for (const file of files) {
    const from = typeof file === 'string' ? file : file.from
    if (!from.startsWith(MADE_BY_OTHERS)) expect(existsSync(join(EXAMPLES, from)), from).toBe(true)
  }
})

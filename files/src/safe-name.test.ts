import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { safeName } from './safe-name.ts'
import { useTestFolder } from './test-folder.ts'

const folder = useTestFolder()

test('an ordinary name stays as it is', () => {
  expect(['model.safetensors', 'run_1', 'a-b.c.tar.gz'].map(safeName)).toEqual([
    'model.safetensors',
    'run_1',
    'a-b.c.tar.gz',
  ])
})

test('an altered name stays readable and keeps its extension', () => {
  expect(safeName('Résumé of run/1.png')).toMatch(/^Re-sume-of-run-1-[0-9a-f]{12}\.png$/)
})

test.each([
  '',
  '.',
  '..',
  '../../etc/passwd',
  '/',
  '\0',
  '-rf',
  '.hidden',
  'CON',
  'nul.txt',
  'a'.repeat(300),
  '💾',
  'a.',
])('%j becomes one harmless component', text => {
  expect(safeName(text)).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,119}$/)
  expect(safeName(text)).not.toMatch(/^(con|nul)(\.|$)|\.$/i)
})

test('whatever the text, the file lands in the folder, and other text gives another name', async () => {
  const inner = join(folder(), 'inner')
  await mkdir(inner)
  const names = new Map<string, string>()
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async text => {
      const name = safeName(text)
      expect(names.get(name) ?? text).toBe(text)
      names.set(name, text)
      await writeFile(join(inner, name), '')
    }),
  )
  expect((await readdir(inner)).sort()).toEqual([...names.keys()].sort())
  expect(await readdir(folder())).toEqual(['inner'])
})

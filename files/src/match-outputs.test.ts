import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { matchOutputs, pickOutputs } from './match-outputs.ts'
import { useTestFolder } from './test-folder.ts'

const folder = useTestFolder()
const FILES = ['a.txt', 'b.bin', '.hidden', 'out/x.pt', 'out/deep/y.pt', 'out/.cache/z.pt', 'output.txt']

beforeEach(async () => {
  for (const path of FILES) {
    await mkdir(dirname(join(folder(), path)), { recursive: true })
    await writeFile(join(folder(), path), path)
  }
})

const match = async (...globs: string[]) => (await matchOutputs(folder(), globs, 100)).paths

it('finds what patterns name, sorted and once', async () => {
  expect(await match('*.txt', 'a.*', './b.bin')).toEqual(['a.txt', 'b.bin', 'output.txt'])
  expect(await match('out/**/*.pt')).toEqual(['out/deep/y.pt', 'out/x.pt'])
  expect(await match('**')).toEqual(['a.txt', 'b.bin', 'out/deep/y.pt', 'out/x.pt', 'output.txt'])
})

it('takes a whole folder for a pattern without wildcards', async () => {
  expect(await match('out')).toEqual(['out/deep/y.pt', 'out/x.pt'])
  expect(await match('out/')).toEqual(['out/deep/y.pt', 'out/x.pt'])
})

it('takes hidden files only where the pattern names them', async () => {
  expect(await match('.hidden', 'out/.cache/*')).toEqual(['.hidden', 'out/.cache/z.pt'])
})

it('follows no link, whether on the way, at the end or to the outside', async () => {
  await symlink('/etc', join(folder(), 'etc'))
  await symlink('a.txt', join(folder(), 'link.txt'))
  await symlink('out', join(folder(), 'way'))
  expect(await match('etc/*', '**/passwd', 'link.txt', 'way/*.pt', 'way')).toEqual([])
})

it('says which patterns found nothing, and how many files there are beyond the most that are taken', async () => {
  expect(await matchOutputs(folder(), ['**/*.pt', 'model.onnx', 'no/such/*'], 1)).toMatchObject({
    count: 2,
    unmatched: ['model.onnx', 'no/such/*'],
    paths: [expect.any(String)],
  })
})

it('chooses the same among paths that someone else saw', async () => {
  const globs = ['out', '*.txt', '.hidden', 'nothing/**']
  const { paths, unmatched } = await matchOutputs(folder(), globs, 100)
  expect(pickOutputs(FILES, globs, 100)).toEqual({ paths, count: paths.length, unmatched })
  expect(pickOutputs(FILES, ['**'], 2)).toMatchObject({ paths: ['a.txt', 'b.bin'], count: 5 })
})

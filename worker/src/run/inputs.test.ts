import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packFolder } from '@stoker/files'
import type { JobSpecInput } from '@stoker/protocol'
import { beforeEach, expect, it } from 'vitest'
import { tarBytes } from '../../../files/src/archives/test-archives.ts'
import { anOffer, useTransfers } from '../artifacts/test-transfers.ts'
import { placeInputs } from './inputs.ts'

const there = useTransfers()
const work = (...path: string[]) => join(there().folder, 'attempt', 'work', ...path)

beforeEach(() => mkdir(work(), { recursive: true }))

function place(files: JobSpecInput['files'], told: number[] = []) {
  return placeInputs(anOffer({ files }), join(there().folder, 'attempt'), there().transfers, {
    signal: new AbortController().signal,
    onBytes: (here, all) => told.push(Math.floor((100 * here) / all)),
  })
}

it('puts files and unpacked archives where the job wants them, as copies that may be changed', async () => {
  const { hub, folder } = there()
  await mkdir(join(folder, 'src/sub'), { recursive: true })
  await writeFile(join(folder, 'src/sub/a.txt'), 'a')
  const packed = await packFolder(join(folder, 'src'), join(folder, 'a.tar'))
  const archive = hub.add(await readFile(join(folder, 'a.tar')))
  expect(archive.sha256).toBe(packed.sha256)
  const tool = hub.add('#!/bin/sh')
  const told: number[] = []
  const files = [
    { path: '.', ...archive, unpack: 'tar' as const },
    { path: 'sub/deep/tool', ...tool, executable: true },
    { path: 'data/tool', ...tool },
  ]
  await place(files, told)
  expect(await readFile(work('sub/a.txt'), 'utf8')).toBe('a')
  expect((await stat(work('sub/deep/tool'))).mode & 0o777).toBe(0o755)
  expect((await stat(work('data/tool'))).mode & 0o777).toBe(0o644)
  expect(told.at(-1)).toBe(100)
  await writeFile(work('data/tool'), 'changed')
  expect(await readFile(join(folder, 'cache', tool.sha256), 'utf8')).toBe('#!/bin/sh')
  expect(await readdir(join(folder, 'attempt'))).toEqual(['work'])
})

it('says which input could not be put in place, and why', async () => {
  const { hub } = there()
  const file = hub.add('x')
  await expect(
    place([
      { path: 'a', ...file },
      { path: 'a', ...file },
    ]),
  ).rejects.toThrow(/input "a".*EEXIST/)
  const bad = hub.add(tarBytes([{ path: '../evil' }]))
  await expect(place([{ path: 'b', ...bad, unpack: 'tar' }])).rejects.toThrow(/input "b".*"\.\.\/evil"/)
  await expect(place([{ path: 'c', sha256: 'f'.repeat(64), size: 1 }])).rejects.toThrow(/blob.not_found/)
})

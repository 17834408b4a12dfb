import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { LineFile } from './line-file.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stoker-'))
})
afterEach(() => removeTree(root))

const line = (text: string) => Buffer.from(`${text}\n`)

it('beyond its limit keeps events only, and says so once', () => {
  const path = join(root, 'out')
  const file = new LineFile(path, 10)
  for (const text of ['12345', '6789', 'no room', 'none']) file.add(line(text), false)
  file.add(line('{"event":"finish"}'), true)
  expect(file.flush()).toBe(true)
  expect(file.flush()).toBe(false)
  file.close()
  const notice = '\nstoker: the output limit is reached; only events are kept from here on\n'
  expect(readFileSync(path, 'utf8')).toBe(`12345\n${notice}{"event":"finish"}\n`)
  expect(file.state).toEqual({ size: readFileSync(path).length, dropped: 5 + 8 + 5, isOver: true })
})

it('goes on from a point that was noted, and writes the same again', () => {
  const path = join(root, 'out')
  const file = new LineFile(path, 100)
  file.add(line('one'), false)
  file.flush()
  const noted = file.state
  file.add(line('two'), false)
  file.flush()
  file.close()
  const again = new LineFile(path, 100, noted)
  again.add(line('two'), false)
  again.add(line('three'), false)
  again.flush()
  again.close()
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree\n')
})

it('on a disk that takes nothing counts what is dropped', () => {
  const file = new LineFile(join(root, 'no', 'such', 'folder'), 100)
  file.add(line('one'), false)
  expect(file.flush()).toBe(false)
  expect(file.state).toMatchObject({ size: 0, dropped: 4 })
})

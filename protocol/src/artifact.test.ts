import { expect, it } from 'vitest'
import { isInnerPath } from './artifact.ts'

it('a path inside a folder is relative and has no part that leads elsewhere', () => {
  for (const path of ['a', 'a/b.txt', '..a/b..', 'ü/x y', '.hidden/…']) expect(isInnerPath(path), path).toBe(true)
  for (const path of ['', '/a', 'a/', 'a//b', '.', '..', 'a/../b', './a', 'a\\b', 'a\0b', `${'a/'.repeat(600)}b`])
    expect(isInnerPath(path), path).toBe(false)
})

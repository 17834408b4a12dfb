import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { stampedJob, stampsIn } from './stamped-program.ts'

it('says the time in every line, and the times are found in any text', () => {
  const before = Date.now()
  const [command = '', ...args] = stampedJob({ afterMs: 5, lines: 3, everyMs: 1 }).command
  const { stdout } = spawnSync(command, args, { encoding: 'utf8' })
  const stamps = stampsIn(`data: ${JSON.stringify({ text: stdout })}`)
  expect(stamps).toHaveLength(3)
  for (const stamp of stamps) expect(stamp).toBeGreaterThanOrEqual(before)
  expect([...stamps].sort()).toEqual(stamps)
})

import { appendFileSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SessionJournal } from './session-journal.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stoker-'))
})
afterEach(() => removeTree(folder))

const task = (n: number) => ({ n, id: `job-${n}`, key: `${n}-1-1`, at: n * 10, startedAt: 1 })
const empty = { size: 0, dropped: 0, isOver: false }

it('remembers what was handed over and stopped, also after a line that was cut off', () => {
  const journal = new SessionJournal(folder)
  journal.handedOver(task(1))
  journal.taskStopped('1-1-1', { cause: 'canceled', text: 'by ann' })
  journal.close()
  appendFileSync(join(folder, 'tasks.jsonl'), '{"task":{"n":2,"i')
  const again = new SessionJournal(folder)
  expect([again.nextLine, again.tasks]).toEqual([2, [task(1)]])
  again.handedOver(task(2))
  again.stopped({ cause: 'session', text: 'manual' })
  again.stopped({ cause: 'shutdown', text: 'later' })
  again.close()
  const last = new SessionJournal(folder)
  expect(last.tasks).toEqual([task(1), task(2)])
  expect(last.stop).toEqual({ cause: 'session', text: 'manual' })
  expect(last.taskStops.get('1-1-1')).toMatchObject({ text: 'by ann' })
  last.close()
})

it('written anew says only what still matters, and counts on', () => {
  const journal = new SessionJournal(folder)
  for (let n = 1; n < 5000; n += 1) journal.handedOver(task(n))
  expect(journal.isLong).toBe(true)
  journal.stopped({ cause: 'session', text: 'manual' })
  const places = { isReady: true, hasFinished: true, opener: null }
  const heard = { at: 9, nextLine: 5000, own: empty, places, tasks: [{ ...task(4999), file: empty }] }
  journal.compact(heard)
  expect(journal.isLong).toBe(false)
  journal.handedOver(task(5000))
  journal.close()
  expect(readFileSync(join(folder, 'tasks.jsonl'), 'utf8').trim().split('\n')).toHaveLength(3)
  const again = new SessionJournal(folder)
  expect(again.heard).toEqual(heard)
  expect([again.tasks, again.nextLine, again.stop?.text]).toEqual([[task(5000)], 5001, 'manual'])
  again.close()
})

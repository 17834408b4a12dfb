import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { JobJournal } from './job-journal.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stoker-journal-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const aJob = (id: string) => ({
  ...{ id, hub: 'http://h', job: { x: 1 }, takenAt: 5, uuids: [], isPlaced: true },
  need: { gpus: 0, cpus: 1, memoryBytes: 0 },
})

it('knows after a restart what was taken, and goes on counting', () => {
  const first = new JobJournal(folder, { first: 40 })
  expect(first.create(aJob('a')).number).toBe(40)
  const again = new JobJournal(folder, { first: 7 })
  expect(again.open).toMatchObject([{ id: 'a', number: 40, job: { x: 1 }, end: null }])
  expect(again.create(aJob('b')).number).toBe(41)
})

it('keeps the last word of what was told, also for the next process', () => {
  const journal = new JobJournal(folder)
  const record = journal.create(aJob('a'))
  record.said = 'over'
  journal.told(record, 9)
  expect(journal.open).toEqual([])
  const again = new JobJournal(folder)
  expect(again.open).toEqual([])
  expect(again.find({ hub: 'http://h', id: 'a' })).toMatchObject({ said: 'over', toldAt: 9, job: null })
  expect(again.find({ hub: 'http://other', id: 'a' })).toBeNull()
})

it('forgets the oldest of many that were told', () => {
  const journal = new JobJournal(folder)
  for (let i = 0; i < 300; i += 1) journal.told(journal.create(aJob(`j${i}`)), i)
  expect(readdirSync(folder)).toHaveLength(256)
  expect(journal.find({ hub: 'http://h', id: 'j0' })).toBeNull()
  expect(journal.find({ hub: 'http://h', id: 'j299' })).not.toBeNull()
})

it('forgets at once what was never ours', () => {
  const journal = new JobJournal(folder)
  journal.forget(journal.create(aJob('a')))
  expect(readdirSync(folder)).toEqual([])
})

it('leaves alone what it cannot read, and gives its number to nobody', () => {
  writeFileSync(join(folder, '3.json'), '{"number":')
  const unreadable: string[] = []
  const journal = new JobJournal(folder, { unreadable: path => unreadable.push(path) })
  expect(unreadable).toEqual([join(folder, '3.json')])
  expect(journal.create(aJob('a')).number).toBe(4)
})

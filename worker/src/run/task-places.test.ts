import { eventIn } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { TaskPlaces } from './task-places.ts'

const A = { id: 'a', n: 1 }
const B = { id: 'b', n: 2 }

function ownerOf(places: TaskPlaces<typeof A>, line: object | string): string | null {
  const text = typeof line === 'string' ? line : JSON.stringify(line)
  return places.ownerOf(eventIn({ text, truncated: false }, 'stdout'), text)?.id ?? null
}

function hear(places: TaskPlaces<typeof A>, line: object): boolean {
  const event = eventIn({ text: JSON.stringify(line), truncated: false }, 'stdout')
  return event !== null && places.hear(event)
}

it('with one place everything is its task’s, whatever the line names', () => {
  const places = new TaskPlaces<typeof A>(1)
  expect(ownerOf(places, 'before')).toBeNull()
  places.place(A)
  expect(places.isFull).toBe(true)
  for (const line of ['words', { event: 'text' }, { event: 'text', task_id: 'x' }])
    expect(ownerOf(places, line)).toBe('a')
  places.remove(A)
  expect(ownerOf(places, 'after')).toBeNull()
})

it('with several places a line is the task’s that it names, at its top or in its data', () => {
  const places = new TaskPlaces<typeof A>(2)
  hear(places, { event: 'worker', status: 'ready' })
  places.place(A)
  places.place(B)
  expect(ownerOf(places, { event: 'text', task_id: 'b', data: {} })).toBe('b')
  expect(ownerOf(places, { type: 'text', data: { task_id: 'a' } })).toBe('a')
  for (const line of [{ event: 'text' }, 'words', { event: 'text', task_id: 'x' }, { event: 'text', task_id: 3 }])
    expect(ownerOf(places, line)).toBeNull()
  places.remove(A)
  expect(ownerOf(places, 'words')).toBe('b')
})

it('until the first finish what names no task is that of the one that opened the session', () => {
  const places = new TaskPlaces<typeof A>(2)
  places.place(A)
  places.place(B)
  expect(ownerOf(places, { event: 'worker', status: 'loading' })).toBe('a')
  expect(hear(places, { event: 'worker', status: 'loading' })).toBe(false)
  expect(hear(places, { event: 'finish', task_id: 'b' })).toBe(true)
  expect(ownerOf(places, { event: 'worker', status: 'working' })).toBeNull()
  expect(places.isOpener(A)).toBe(true)
})

it('a session is ready once it says so or has finished a task, and only once', () => {
  const places = new TaskPlaces<typeof A>(1)
  expect(hear(places, { event: 'worker', status: 'waiting' })).toBe(true)
  expect(hear(places, { event: 'worker', status: 'ready' })).toBe(false)
  expect(hear(new TaskPlaces<typeof A>(1), { event: 'task_finish' })).toBe(true)
})

import { describe, expect, it } from 'vitest'
import type { Progress } from '../machine.ts'
import { ProgramWatch } from './program-watch.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

function watching(...lines: readonly string[]) {
  const progress: Progress[] = []
  const watch = new ProgramWatch(p => progress.push(p))
  for (const line of lines) watch.push('stdout', bytes(`${line}\n`))
  watch.end()
  return { watch, progress }
}

describe('a program watch', () => {
  it('remembers how the program said it finished, in any of the forms', () => {
    expect(watching('{"type":"task_finish","data":{"status":"failed","error":"boom"}}').watch.finish).toEqual({
      status: 'failed',
      message: null,
      error: 'boom',
    })
    expect(watching('chatter', '{"event":"finish","status":"completed"}').watch.finish?.status).toBe('completed')
    expect(watching('just talk').watch.finish).toBeNull()
  })

  it('hears no event in the start of a line that was cut', () => {
    const cut = `{"event":"finish","status":"failed"}${' '.repeat(1024 * 1024)}`
    expect(watching(cut, '{"event":"text","content":"whole"}').watch).toMatchObject({
      finish: null,
      result: { value: { text: 'whole' } },
    })
  })

  it('takes a text event, or the result of finish, as the result', () => {
    expect(watching('{"event":"text","content":"42"}').watch.result.value).toEqual({ text: '42' })
    expect(
      watching('{"event":"text","content":"1"}', '{"event":"finish","result":{"loss":0.1}}').watch.result.value,
    ).toEqual({ loss: 0.1 })
  })

  it('does not keep a result too large for a report, and says so', () => {
    const { value, note } = watching(`{"event":"text","content":"${'x'.repeat(300_000)}"}`).watch.result
    expect(value).toBeNull()
    expect(note).toMatch(/300011 bytes, at most 262144 are kept/)
  })

  it('tells of progress, forgiving odd values', () => {
    expect(
      watching(
        '{"event":"progress","percent":140,"operation":"epoch 2","metrics":{"loss":1}}',
        '{"event":"progress","percent":"soon"}',
      ).progress,
    ).toEqual([
      { percent: 100, operation: 'epoch 2', metrics: { loss: 1 } },
      { percent: null, operation: null, metrics: {} },
    ])
  })

  it('shows NUL characters as unreadable, because stored text would end there', () => {
    const { watch } = watching('{"event":"finish","status":"failed","error":"a\\u0000b"}')
    expect(watch.finish?.error).toBe('a\uFFFDb')
  })

  it('keeps the last ten lines of stderr and never reads them as events', () => {
    const watch = new ProgramWatch(() => {})
    watch.push('stderr', bytes(Array.from({ length: 12 }, (_, i) => `line ${i}\n`).join('')))
    watch.push('stderr', bytes('{"event":"finish","status":"failed"}'))
    watch.end()
    expect(watch.finish).toBeNull()
    expect(watch.lastStderr).toEqual([
      ...Array.from({ length: 9 }, (_, i) => `line ${i + 3}`),
      '{"event":"finish","status":"failed"}',
    ])
  })
})

it('tells of checkpoints those who listen for them', () => {
  const heard: unknown[] = []
  const watch = new ProgramWatch(
    () => {},
    fields => void heard.push(fields),
  )
  watch.push('stdout', bytes('{"event":"checkpoint","step":3}\n'))
  expect(heard).toEqual([{ step: 3 }])
})

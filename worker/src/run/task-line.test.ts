import { expect, it } from 'vitest'
import { taskLine } from './task-line.ts'
import { aSession, aTask } from './test-session-bench.ts'

const session = aSession({})

it('says what a program needs to know of its task', () => {
  const task = aTask(2, session, { prompt: 'hi\nthere' }, { name: 'greet', timeout: '90s' })
  expect(JSON.parse(taskLine(task, session))).toEqual({
    ...{ task_id: 'job-2', task_name: 'greet', model_id: null, task_preset: null },
    ...{ metadata: { prompt: 'hi\nthere' }, timeout_seconds: 90 },
  })
  expect(taskLine(task, session)).not.toContain('\n')
})

it('names model and preset; names of models may have strokes', () => {
  const task = aTask(2, session, {}, { task: { preset: 'org/llama/chat' } })
  expect(JSON.parse(taskLine(task, session))).toMatchObject({
    ...{ model_id: 'org/llama', task_preset: 'chat', timeout_seconds: null },
  })
})

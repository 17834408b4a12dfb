import { expect, it } from 'vitest'
import { PullProgress } from './pull-progress.ts'

const A = 'aaaaaaaaaaaa'
const B = 'bbbbbbbbbbbb'
const line = (id: string, status: string, current?: number, total?: number) => ({
  ...{ id, status, progressDetail: current === undefined ? {} : { current, total } },
})

it('tells layers, bytes and a guess of what is left', () => {
  const pull = new PullProgress('tool:v1')
  expect(pull.progress).toMatchObject({ percent: null, operation: 'pulling tool:v1' })
  pull.hear({ status: 'Pulling from tool', id: 'v1' }, 0)
  expect(pull.hear(line(A, 'Pulling fs layer'), 0)).toBe(true)
  expect(pull.hear(line(A, 'Waiting'), 0)).toBe(false)
  pull.hear(line(B, 'Already exists'), 0)
  expect(pull.hear(line(A, 'Downloading', 1_000_000, 10_000_000), 1000)).toBe(true)
  expect(pull.progress).toMatchObject({ percent: 10, operation: 'pulling tool:v1, 1 of 2 layers, 1 MB of 10 MB' })
  pull.hear(line(A, 'Downloading', 5_000_000, 10_000_000), 6000)
  expect(pull.progress.operation).toBe('pulling tool:v1, 1 of 2 layers, 5 MB of 10 MB, about 5.0 s left')
  pull.hear(line(A, 'Extracting', 10, 10_000_000), 7000)
  expect(pull.hear(line(A, 'Pull complete'), 8000)).toBe(true)
  expect(pull.progress).toMatchObject({ percent: 100, metrics: { layersDone: 2, layers: 2, bytes: 10_000_000 } })
})

it('takes a retry of the engine for no progress', () => {
  const pull = new PullProgress('tool:v1')
  pull.hear(line(A, 'Downloading', 10, 100), 0)
  expect(pull.hear(line(A, 'Retrying in 5 seconds'), 1)).toBe(false)
})

it('throws what the engine says is wrong', () => {
  const pull = new PullProgress('tool:v1')
  expect(() => pull.hear({ error: 'manifest unknown' }, 0)).toThrow(
    'image tool:v1 could not be pulled: manifest unknown',
  )
})

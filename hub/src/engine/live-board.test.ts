import type { LiveAttempt } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { LiveBoard } from './live-board.ts'

const fence = { job: 1, epoch: 1, attempt: 1 }
const progress = { percent: 5, operation: 'training', metrics: {} }

function tell(board: LiveBoard, more: Partial<LiveAttempt>): void {
  const attempt: LiveAttempt = { fence, progress: null, cpus: null, memoryBytes: null, ...more }
  board.put('w', { t: 'live', at: 1, host: null, gpus: [], attempts: [attempt] })
}

it('keeps what was last said of progress and of use, whichever comes later', () => {
  const board = new LiveBoard()
  tell(board, { cpus: 1.5, memoryBytes: 1000, pids: 3 })
  tell(board, { progress })
  expect(board.job(1)).toEqual({ attempt: 1, progress, using: { cpus: 1.5, memoryBytes: 1000, pids: 3 } })
  tell(board, { cpus: 0.5, memoryBytes: 10 })
  expect(board.job(1)).toEqual({ attempt: 1, progress, using: { cpus: 0.5, memoryBytes: 10, pids: null } })
})

it('takes nothing of an earlier attempt for that of a later one', () => {
  const board = new LiveBoard()
  tell(board, { progress, cpus: 1, memoryBytes: 1 })
  tell(board, { fence: { ...fence, attempt: 2 } })
  expect(board.job(1)).toEqual({ attempt: 2, progress: null, using: null })
})

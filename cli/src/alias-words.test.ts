import { expect, it } from 'vitest'
import { qubixWords, trainforgeWords } from './alias-words.ts'

const nobody = { ask: () => Promise.resolve(null) }

it('qubix-worker has the documented backend unless one is given', () => {
  expect(qubixWords(['--price', '2.5'])).toEqual(['worker', '--backend', 'http://127.0.0.1:3001', '--price', '2.5'])
  expect(qubixWords(['--backend=http://b:1'])).toEqual(['worker', '--backend=http://b:1'])
})

it('trainforge-worker has the documented scheduler unless one is given', async () => {
  const words = await trainforgeWords(['--worker-id', 'n1', '--scheduler', 'http://s:1'], nobody)
  expect(words).toEqual(['worker', '--worker-id', 'n1', '--scheduler', 'http://s:1'])
  expect(await trainforgeWords(['--status'], nobody)).toEqual([
    'worker',
    '--scheduler',
    'http://localhost:3000',
    '--status',
  ])
})

it('trainforge-worker without words takes the defaults where nobody can be asked', async () => {
  expect(await trainforgeWords([], nobody)).toEqual(['worker', '--scheduler', 'http://localhost:3000'])
})

it('trainforge-worker without words asks a person for what the defaults are not', async () => {
  const answers = ['no', 'http://s:9', '']
  const asked: string[] = []
  const ask = async (question: string) => {
    asked.push(question)
    return answers[asked.length - 1] ?? null
  }
  expect(await trainforgeWords([], { ask })).toEqual(['worker', '--scheduler', 'http://s:9', '--max-jobs', '4'])
  expect(asked).toHaveLength(3)
})

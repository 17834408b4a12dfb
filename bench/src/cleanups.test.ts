import { expect, it } from 'vitest'
import { Cleanups } from './cleanups.ts'

it('undoes the last first, each once, and goes on after a failure', async () => {
  const undone: string[] = []
  const cleanups = new Cleanups()
  cleanups.add(async () => void undone.push('folder'))
  cleanups.add(async () => {
    throw new Error('would not stop')
  })
  cleanups.add(async () => void undone.push('worker'))
  await expect(cleanups.runAll()).rejects.toThrow('1 things were not cleaned up')
  await cleanups.runAll()
  expect(undone).toEqual(['worker', 'folder'])
})

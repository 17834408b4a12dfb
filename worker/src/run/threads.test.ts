import { expect, it } from 'vitest'
import { threadEnv } from './threads.ts'

it.each([
  ['one for one processor', 1, 1, '1'],
  ['one for a part of a processor, or none', 0.1, 1, '1'],
  ['one where nothing is said', 0, 1, '1'],
  ['the next whole number', 2.5, 1, '3'],
  ['an equal share for each rank', 5, 2, '2'],
  ['one for each rank where processors are fewer', 1, 4, '1'],
])('threads of a program are %s', (_, cpus, ranks, threads) => {
  expect(threadEnv(cpus, ranks, { A: 'b' })).toEqual({
    OMP_NUM_THREADS: threads,
    MKL_NUM_THREADS: threads,
    OPENBLAS_NUM_THREADS: threads,
    NUMEXPR_NUM_THREADS: threads,
    RAYON_NUM_THREADS: threads,
  })
})

it('a job that names one of them is left alone', () => {
  expect(threadEnv(4, 1, { MKL_NUM_THREADS: '16' })).toEqual({})
})

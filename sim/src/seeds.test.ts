import { describe, expect, it } from 'vitest'
import { FAULT_NAMES } from './faults.ts'
import { aRun, violationsOf } from './test-run.ts'

/** About 20 ms a seed; the limit leaves room for a machine that does other things too. */
const LIMIT_MS = 120_000

describe('every guarantee holds', { timeout: LIMIT_MS }, () => {
  it.each([
    ['none', 20],
    ['light', 140],
    ['heavy', 140],
    ['chaos', 140],
  ] as const)('under %s faults, over %i seeds', (faults, seeds) => {
    expect(violationsOf(faults, 1, seeds)).toEqual([])
  })

  it.each(FAULT_NAMES)('when only %s happens, often', fault => {
    expect(violationsOf(fault, 1000, 15)).toEqual([])
  })
})

describe('a seed', { timeout: LIMIT_MS }, () => {
  it('gives the same journal every time, and another seed another one', () => {
    const hashes = [7, 7, 8].map(seed => aRun(seed, 'chaos').journalHash)
    expect(hashes[0]).toBe(hashes[1])
    expect(hashes[0]).not.toBe(hashes[2])
  })

  it('gives the same journal whether messages are encoded or handed over', () => {
    const hashes = [true, false].map(isEncoded => aRun(21, 'heavy', { isEncoded }).journalHash)
    expect(hashes[0]).toBe(hashes[1])
  })

  it('runs for as long as jobs end, however long the queue of an owner with a small limit', () => {
    const { figures, violations, virtualMs } = aRun(1, 'light', {
      workers: 20,
      jobs: 2000,
      maxGpus: 4,
      hasSessions: false,
    })
    expect(violations).toEqual([])
    expect(figures.jobs).toBeGreaterThanOrEqual(2000)
    expect(virtualMs).toBeGreaterThan(100 * 60_000)
  })

  it('runs until everything has ended', () => {
    const { figures, commits } = aRun(3, 'heavy')
    expect(figures.jobs).toBeGreaterThanOrEqual(30)
    expect(figures.attempts).toBeGreaterThan(0)
    expect(commits).toBeGreaterThan(30)
  })
})

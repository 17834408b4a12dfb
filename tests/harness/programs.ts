import { readFile, writeFile } from 'node:fs/promises'
import type { JobSpecInput } from '@stoker/protocol'
import type { House } from './house.ts'
import { aProgram } from './jobs.ts'

export interface Counting {
  /** Written once into the house's `marks` by every run of the program. */
  readonly mark: number
  readonly lines: number
  /** The last line waits until the gate is open. */
  readonly gate?: string | undefined
  readonly pauseMs?: number | undefined
}

/** A program that counts on its stdout and leaves one mark per run: what it did can be checked to the byte. */
export function counting(house: House, { mark, lines, gate, pauseMs = 0 }: Counting): JobSpecInput {
  const wait = gate === undefined ? ':' : `while [ ! -e ${house.path(gate)} ]; do sleep 0.02; done`
  const pause = pauseMs === 0 ? ':' : `sleep ${pauseMs / 1000}`
  const body = `if [ $i -eq ${lines} ]; then ${wait}; fi; echo "line $i"; ${pause}; i=$((i+1))`
  return aProgram(`echo ${mark} >> ${house.path('marks')}; i=1; while [ $i -le ${lines} ]; do ${body}; done`)
}

/** What a counting program has printed when it is done. */
export function counted(lines: number): string {
  return Array.from({ length: lines }, (_, i) => `line ${i + 1}\n`).join('')
}

export async function openGate(house: House, gate: string): Promise<void> {
  await writeFile(house.path(gate), '')
}

/** One number per run of a counting program, sorted: a number twice is a program that ran twice. */
export async function marksOf(house: House): Promise<readonly number[]> {
  const text = await readFile(house.path('marks'), 'utf8')
  return text
    .trim()
    .split('\n')
    .map(Number)
    .sort((a, b) => a - b)
}

export function upTo(count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => i)
}

import type { z } from 'zod'
import type { SpecIssue } from './spec-issues.ts'
import { isMatrixName, MAX_MEMBERS, matrixVariable, type SweepInput, type SweepValue } from './sweep.ts'

export type Sweep = z.output<typeof SweepInput>

/** What one member of a group differs in. */
export interface SweepMember {
  readonly index: number
  readonly size: number
  readonly values: Readonly<Record<string, SweepValue>>
  /** What its name has in brackets. */
  readonly mark: string
}

export type SweepMembers =
  | { readonly ok: true; readonly members: readonly SweepMember[] }
  | { readonly ok: false; readonly issues: readonly SpecIssue[] }

/** Every combination of the matrix, each once per index of the array, in the order written: later names vary faster, the index fastest. */
export function sweepMembers({ array, matrix }: Sweep): SweepMembers {
  const issues = checkMatrix(matrix)
  if (issues.length > 0) return { ok: false, issues }
  const arrayLength = array === undefined ? 1 : lengthOf(array)
  if (arrayLength < 1) return refuse('array', 'found "from" above "to"; an array has at least one index')
  const count = product(matrix) * arrayLength
  if (count > MAX_MEMBERS) return tooMany(count)
  const combinations = combinationsOf(matrix)
  if (!Array.isArray(combinations)) return { ok: false, issues: [combinations as SpecIssue] }
  if (combinations.length === 0) return refuse('matrix.exclude', 'leaves no combination; a group has at least one job')
  if (combinations.length * arrayLength > MAX_MEMBERS) return tooMany(combinations.length * arrayLength)
  const indices = array === undefined ? null : indicesOf(array)
  const members = combinations.flatMap((values, at) => {
    const pairs = Object.entries(values).map(([name, value]) => `${name}=${value}`)
    if (indices === null) return [{ index: at, size: combinations.length, values, mark: pairs.join(',') }]
    return indices.map(index => ({ index, size: indices.length, values, mark: [...pairs, index].join(',') }))
  })
  return { ok: true, members }
}

type Matrix = NonNullable<Sweep['matrix']>
type Values = Readonly<Record<string, SweepValue>>

function namesOf(matrix: Matrix): readonly (readonly [string, readonly SweepValue[]])[] {
  return Object.entries(matrix).flatMap(([name, values]) =>
    name === 'include' || name === 'exclude' ? [] : [[name, values as readonly SweepValue[]] as const],
  )
}

function checkMatrix(matrix: Matrix | undefined): SpecIssue[] {
  if (matrix === undefined) return []
  const names = namesOf(matrix)
  if (names.length === 0) return [{ path: 'matrix', message: 'found no name; a matrix has names with their values' }]
  const seen = new Map<string, string>()
  return names.flatMap(([name, values]) => {
    const path = `matrix.${name}`
    if (!isMatrixName(name))
      return [{ path, message: 'a name has letters, digits and _, at most 64, and does not start with a digit' }]
    const other = seen.get(matrixVariable(name))
    seen.set(matrixVariable(name), name)
    if (other !== undefined)
      return [{ path, message: `found "${other}" and "${name}"; both would be the variable ${matrixVariable(name)}` }]
    const twice = values.find((value, at) => values.indexOf(value) !== at)
    return twice === undefined
      ? []
      : [{ path, message: `found ${JSON.stringify(twice)} twice; each value stands once` }]
  })
}

function combinationsOf(matrix: Matrix | undefined): Values[] | SpecIssue {
  if (matrix === undefined) return [{}]
  const names = namesOf(matrix)
  const { include = [], exclude = [] } = matrix
  const known = names.map(([name]) => name)
  for (const [list, entries] of [
    ['include', include],
    ['exclude', exclude],
  ] as const) {
    for (const [at, entry] of entries.entries()) {
      const issue = checkEntry(`matrix.${list}[${at}]`, entry, known, list === 'include')
      if (issue !== null) return issue
    }
  }
  let all: Values[] = [{}]
  for (const [name, values] of names) all = all.flatMap(one => values.map(value => ({ ...one, [name]: value })))
  for (const [at, entry] of exclude.entries()) {
    const rest = all.filter(one => !matches(one, entry))
    if (rest.length === all.length)
      return {
        path: `matrix.exclude[${at}]`,
        message: `found ${JSON.stringify(entry)}; no combination has these values`,
      }
    all = rest
  }
  const ordered = include.map(entry => Object.fromEntries(known.map(name => [name, entry[name] ?? ''])))
  const whole = [...all, ...ordered]
  const texts = new Set(all.map(one => JSON.stringify(one)))
  for (const [at, one] of ordered.entries()) {
    if (texts.has(JSON.stringify(one)))
      return { path: `matrix.include[${at}]`, message: `found ${JSON.stringify(one)}; the matrix has it already` }
    texts.add(JSON.stringify(one))
  }
  return whole
}

function checkEntry(path: string, entry: Values, known: readonly string[], isWhole: boolean): SpecIssue | null {
  const given = Object.keys(entry)
  const unknown = given.find(name => !known.includes(name))
  if (unknown !== undefined)
    return { path: `${path}.${unknown}`, message: `the matrix has no name "${unknown}" (known: ${known.join(', ')})` }
  if (given.length === 0) return { path, message: `found nothing; name at least one of ${known.join(', ')}` }
  const missing = isWhole ? known.find(name => !given.includes(name)) : undefined
  return missing === undefined ? null : { path: `${path}.${missing}`, message: 'missing; a combination has every name' }
}

function matches(one: Values, entry: Values): boolean {
  return Object.entries(entry).every(([name, value]) => one[name] === value)
}

function product(matrix: Matrix | undefined): number {
  return matrix === undefined ? 1 : namesOf(matrix).reduce((count, [, values]) => count * values.length, 1)
}

type ArrayOf = NonNullable<Sweep['array']>

function lengthOf(array: ArrayOf): number {
  if (typeof array === 'number') return array
  return Math.floor((array.to - array.from) / (array.step ?? 1)) + 1
}

function indicesOf(array: ArrayOf): number[] {
  const { from, step = 1 } = typeof array === 'number' ? { from: 0 } : array
  return Array.from({ length: lengthOf(array) }, (_, at) => from + at * step)
}

function tooMany(count: number): SweepMembers {
  return refuse('(whole)', `makes ${count} jobs; a group has at most ${MAX_MEMBERS}`)
}

function refuse(path: string, message: string): SweepMembers {
  return { ok: false, issues: [{ path, message }] }
}

import { HubRefused } from '@stoker/client'
import { exitCodeOfProblem } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import type { FoundSpec } from './read-specs.ts'

/** For what a hub says to these specs. */
export function located(specs: readonly FoundSpec[]): (error: unknown) => never {
  return error => {
    throw locateIssues(error, specs)
  }
}

/** A refusal of specs from files, told with the line and column where each wrong thing is written. */
function locateIssues(error: unknown, specs: readonly FoundSpec[]): unknown {
  if (!(error instanceof HubRefused) || error.problem.errors === undefined) return error
  const { problem } = error
  const details = problem.errors?.map(({ path, message }) => {
    const match = /^jobs\[(\d+)\]\.?(.*)$/s.exec(path)
    const spec = specs[match === null ? 0 : Number(match[1])]
    const inner = match === null ? path : (match[2] ?? '')
    const place = spec?.place(pathParts(inner)) ?? null
    return [place, inner, message].filter(part => part !== null && part !== '(whole)').join(': ')
  })
  return new Failure(problem.title, {
    exitCode: exitCodeOfProblem(problem),
    code: problem.code,
    details,
    cause: error,
  })
}

function pathParts(path: string): (string | number)[] {
  if (path === '(whole)') return []
  return [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) =>
    index === undefined ? (key ?? '') : Number(index),
  )
}

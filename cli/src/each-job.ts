import { HubRefused } from '@stoker/client'
import { EXIT, exitCodeOfProblem } from './exit-codes.ts'

export interface EachResult<T> {
  readonly done: T[]
  readonly failures: { readonly id: string; readonly code: string; readonly message: string }[]
  readonly exitCode: number
}

/** Does the same to every job: what the hub refuses for one does not keep the others from it. */
export async function eachJob<T>(ids: readonly string[], work: (id: string) => Promise<T>): Promise<EachResult<T>> {
  const done: T[] = []
  const failures: EachResult<T>['failures'] = []
  let exitCode: number = EXIT.ok
  for (const id of ids) {
    try {
      done.push(await work(id))
    } catch (error) {
      if (!(error instanceof HubRefused)) throw error
      failures.push({ id, code: error.problem.code, message: error.message })
      if (exitCode === EXIT.ok) exitCode = exitCodeOfProblem(error.problem)
    }
  }
  return { done, failures, exitCode }
}

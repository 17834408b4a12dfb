import { HubRefused } from '@stoker/client'
import { atOnce } from '@stoker/files'
import { EXIT, exitCodeOfProblem } from './exit-codes.ts'

export interface EachResult<T> {
  readonly done: T[]
  readonly failures: { readonly id: string; readonly code: string; readonly message: string }[]
  readonly exitCode: number
}

/** So many requests are on their way at once: the hub commits them together. */
const AT_ONCE = 16

/** Does the same to every job: what the hub refuses for one does not keep the others from it; results are in the order of the ids. */
export async function eachJob<T>(ids: readonly string[], work: (id: string) => Promise<T>): Promise<EachResult<T>> {
  const results = await atOnce(AT_ONCE, ids, id =>
    work(id).catch((error: unknown) => {
      if (error instanceof HubRefused) return error
      throw error
    }),
  )
  const done = results.filter((one): one is T => !(one instanceof HubRefused))
  const failures = results.flatMap((one, at) =>
    one instanceof HubRefused ? [{ id: ids[at] ?? '', code: one.problem.code, message: one.message }] : [],
  )
  const first = results.find(one => one instanceof HubRefused)
  return { done, failures, exitCode: first === undefined ? EXIT.ok : exitCodeOfProblem(first.problem) }
}

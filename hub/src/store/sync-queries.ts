import type { Tables } from '@stoker/protocol'
import type { Queries, ScanTable } from './port.ts'

/** The queries as an implementation answers them where it holds the data: at once. */
export type SyncQueries = {
  readonly [Name in Exclude<keyof Queries, 'scan'>]: (
    ...args: Parameters<Queries[Name]>
  ) => Awaited<ReturnType<Queries[Name]>>
} & {
  scan<T extends ScanTable>(table: T, after: number, limit: number): readonly Tables[T]['row'][]
}

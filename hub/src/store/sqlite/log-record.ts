import type { TableName } from '@stoker/protocol'
import type { Commit } from '../port.ts'
import type { Cell } from '../row-keys.ts'
import type { Connection } from './connection.ts'
import { columnsOf, type EncodedCommit } from './encode.ts'
import { type AddPlan, createShapes, type Shape, type Shapes } from './shapes.ts'

type WrittenTable = readonly [
  table: TableName,
  plans: readonly AddPlan[],
  runs: readonly number[],
  cells: readonly Cell[],
]
type Written = readonly [journal: Commit['journal'], tables: readonly WrittenTable[]]

/** A commit of new rows as text; statements are named by their plans, which the same schema makes into the same statements. */
export function writeRecord({ journal, queued, tables }: EncodedCommit): string {
  if (queued.length > 0) throw new Error('jobs that are queued together are too many to be deferred')
  const written: WrittenTable[] = []
  for (const { shapes, runs, cells } of tables) {
    const [first] = shapes
    if (first !== undefined) written.push([first.table, shapes.map(planOf), runs, cells])
  }
  return JSON.stringify([journal, written] satisfies Written)
}

/** Reads records for one database, whose tables keep their columns meanwhile. */
export function createRecordReader(db: Connection): (text: string) => EncodedCommit {
  const known = new Map<TableName, Shapes>()

  function shapesOf(table: TableName): Shapes {
    const shapes = known.get(table) ?? createShapes(table, columnsOf(db, table))
    known.set(table, shapes)
    return shapes
  }

  return text => {
    const [journal, tables]: Written = JSON.parse(text)
    return {
      journal,
      queued: [],
      isTyped: true,
      tables: tables.map(([table, plans, runs, cells]) => {
        const shapes = shapesOf(table)
        return { shapes: plans.map(plan => shapes.added(...plan)), runs, cells }
      }),
    }
  }
}

function planOf({ table, adds }: Shape): AddPlan {
  if (adds === null) throw new Error(`only new rows are deferred, a write to ${table} changes or deletes one`)
  return adds
}

import { type JobRow, newJobRow, QUEUED_COLUMNS, type QueuedJobs } from '@stoker/protocol'
import { type Cell, cellsOf } from '../row-keys.ts'
import type { Connection, Statement } from './connection.ts'
import { ROWS_AT_ONCE } from './shapes.ts'

const WIDTH = QUEUED_COLUMNS.length

/** Of each: its own values, whose it is and when it came. */
const BOUND = WIDTH + 2

/** Inserts jobs that were queued together; what all new jobs have alike is in the statement. */
export function createQueuedInsert(db: Connection): (jobs: QueuedJobs) => void {
  const statements = new Map<number, Statement>()

  function statementFor(count: number): Statement {
    const made = statements.get(count) ?? db.prepare(queuedText(count))
    statements.set(count, made)
    return made
  }

  return ({ owner, submittedAt, cells }) => {
    const insert = (from: number, count: number) => {
      const bound: Cell[] = []
      for (let at = from; at < from + count * WIDTH; at += WIDTH) {
        for (let index = at; index < at + WIDTH; index += 1) bound.push(cells[index] ?? null)
        bound.push(owner, submittedAt)
      }
      statementFor(count).run(...bound)
    }
    const step = ROWS_AT_ONCE * WIDTH
    let at = 0
    for (; at + step <= cells.length; at += step) insert(at, ROWS_AT_ONCE)
    for (; at < cells.length; at += WIDTH) insert(at, 1)
  }
}

const ALIKE: Readonly<Record<string, Cell>> = cellsOf(
  newJobRow({ seq: 0, id: '', bucket: 0, name: '', type: '', priority: 0, spec: '' }, '', 0),
)

/** Numbered places in it would be looked up one by one, each by going through all of them. */
function queuedText(count: number): string {
  const given: readonly string[] = [...QUEUED_COLUMNS, 'owner', 'submittedAt'] satisfies readonly (keyof JobRow)[]
  const alike = Object.entries(ALIKE).filter(([column, cell]) => cell !== null && !given.includes(column))
  const names = [...given, ...alike.map(([column]) => column)].map(column => `"${column}"`)
  const same = alike.map(([, cell]) => (typeof cell === 'string' ? `'${cell}'` : cell))
  const row = `(${[...Array(BOUND).fill('?'), ...same].join(', ')})`
  return `INSERT INTO job (${names.join(', ')}) VALUES ${Array(count).fill(row).join(', ')}`
}

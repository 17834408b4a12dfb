import type { Paper } from './paper.ts'
import { cutTo, plainText, widthOf } from './plain-text.ts'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
  readonly paint?: ((text: string, row: Row) => string) | undefined
  /** May be cut, down to this width, when the table is wider than the paper. */
  readonly shrinkTo?: number | undefined
  /** May be left out where even shrinking does not help, the smallest number first; without one the column stays. */
  readonly importance?: number | undefined
}

const GAP = '  '

/** Rows under their titles, never wider than the paper as long as its columns can shrink or give way. */
export function table<Row>(all: readonly Column<Row>[], rows: readonly Row[], paper: Paper): string {
  const columns = paper.columns === undefined ? all : columnsThatFit(all, rows, paper.columns)
  const cells = rows.map(row => columns.map(column => plainText(column.cell(row))))
  const widths = columns.map((column, i) =>
    Math.max(widthOf(column.title), ...cells.map(line => widthOf(line[i] ?? ''))),
  )
  if (paper.columns !== undefined) shrink(widths, columns, paper.columns)
  const head = columns.map((column, i) => paper.color.dim(padTo(column.title, widths[i] ?? 0)))
  const body = rows.map((row, at) =>
    columns.map((column, i) => {
      const text = padTo(cells[at]?.[i] ?? '', widths[i] ?? 0)
      return column.paint === undefined ? text : column.paint(text, row)
    }),
  )
  return [head, ...body].map(line => line.join(GAP).trimEnd()).join('\n')
}

function columnsThatFit<Row>(all: readonly Column<Row>[], rows: readonly Row[], room: number): readonly Column<Row>[] {
  const least = all.map(({ title, cell, shrinkTo = Number.POSITIVE_INFINITY }) =>
    Math.min(shrinkTo, Math.max(widthOf(title), ...rows.map(row => widthOf(plainText(cell(row)))))),
  )
  const byImportance = all.filter(column => column.importance !== undefined)
  byImportance.sort((a, b) => (a.importance ?? 0) - (b.importance ?? 0))
  const kept = new Set(all)
  const total = () =>
    all.reduce((sum, column, i) => sum + (kept.has(column) ? (least[i] ?? 0) + GAP.length : 0), -GAP.length)
  for (const column of byImportance) {
    if (total() <= room) break
    kept.delete(column)
  }
  return all.filter(column => kept.has(column))
}

/** The right column gives way first: what identifies a row stands on the left. */
function shrink(widths: number[], columns: readonly Column<never>[], room: number): void {
  let excess = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1) - room
  for (let i = columns.length - 1; i >= 0 && excess > 0; i -= 1) {
    const width = widths[i] ?? 0
    const cut = Math.max(0, Math.min(excess, width - (columns[i]?.shrinkTo ?? width)))
    widths[i] = width - cut
    excess -= cut
  }
}

function padTo(text: string, width: number): string {
  const cut = cutTo(text, width)
  return cut + ' '.repeat(Math.max(0, width - widthOf(cut)))
}

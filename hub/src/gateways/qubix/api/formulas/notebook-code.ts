import { z } from 'zod'

const Cell = z.object({
  cell_type: z.string().optional(),
  source: z.union([z.string(), z.array(z.string())]).optional(),
})
const Notebook = z.object({ cells: z.array(Cell) })

/** The code of a notebook; null for what is none. */
export function notebookCode(text: string): string | null {
  const parsed = Notebook.safeParse(tryJson(text))
  if (!parsed.success) return null
  return parsed.data.cells
    .filter(({ cell_type: type = 'code' }) => type === 'code')
    .map(({ source = '' }) => (typeof source === 'string' ? source : source.join('')))
    .join('\n')
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

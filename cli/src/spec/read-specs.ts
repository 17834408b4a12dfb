import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type Document, isMap, isSeq, LineCounter, parseAllDocuments } from 'yaml'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import type { Io } from '../io.ts'

/** A spec; `place` tells where in its file a part of it is written: `job.yaml:4:3`, null if it is from no file. */
export interface FoundSpec {
  readonly spec: Readonly<Record<string, unknown>>
  /** Where local paths in it begin. */
  readonly folder: string
  readonly place: (path: readonly (string | number)[]) => string | null
}

/** Reads YAML or JSON: one spec, a list, `{jobs: [...]}`, or several documents; `-` is stdin. */
export async function readSpecs(file: string, io: Io): Promise<FoundSpec[]> {
  const name = file === '-' ? 'stdin' : file
  const text = file === '-' ? await io.readStdin() : await readText(file)
  const lines = new LineCounter()
  const parsed = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false })
  const documents = Array.isArray(parsed) ? parsed : []
  const errors = documents.flatMap(document => document.errors)
  if (errors.length > 0) {
    const details = errors.map(error => `${at(name, lines, error.pos[0])}: ${error.message}`)
    throw new Failure(`${name} is not valid YAML`, { exitCode: EXIT.usage, code: 'file.invalid', details })
  }
  const folder = file === '-' ? io.folder : dirname(resolve(io.folder, file))
  const specs = documents.flatMap(document => specsOf(document, name, lines)).map(spec => ({ ...spec, folder }))
  if (specs.length === 0)
    throw new Failure(`${name} should hold at least one job, it holds none`, {
      exitCode: EXIT.usage,
      code: 'file.invalid',
    })
  return specs
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const reason =
      cause instanceof Error && 'code' in cause && cause.code === 'ENOENT' ? 'it does not exist' : String(cause)
    throw new Failure(`${file} should be a job file, ${reason}`, {
      exitCode: EXIT.usage,
      code: 'file.unreadable',
      cause,
    })
  }
}

function specsOf(document: Document.Parsed, name: string, lines: LineCounter): Omit<FoundSpec, 'folder'>[] {
  const root: unknown = document.contents
  if (root === null) return []
  const list = isSeq(root) ? [] : isMap(root) && isSeq(root.get('jobs')) ? ['jobs'] : null
  const value: unknown = document.toJS()
  const items = list === null ? [value] : list.length === 0 ? value : (value as { jobs: unknown }).jobs
  return (Array.isArray(items) ? items : [value]).map((spec: unknown, index) => {
    const base = list === null ? [] : [...list, index]
    const place = (path: readonly (string | number)[]) => placeOf(document, [...base, ...path], name, lines)
    if (typeof spec === 'object' && spec !== null && !Array.isArray(spec))
      return { spec: spec as Record<string, unknown>, place }
    const found = JSON.stringify(spec)?.slice(0, 60)
    throw new Failure(`${place([])}: a job is a map of keys, found ${found}`, {
      exitCode: EXIT.usage,
      code: 'file.invalid',
    })
  })
}

/** The nearest part that is really written there: a missing key has the place of what should hold it. */
function placeOf(
  document: Document.Parsed,
  path: readonly (string | number)[],
  name: string,
  lines: LineCounter,
): string {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : null
    if (Array.isArray(range) && typeof range[0] === 'number') return at(name, lines, range[0])
  }
  return name
}

function at(name: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset)
  return `${name}:${line}:${col}`
}

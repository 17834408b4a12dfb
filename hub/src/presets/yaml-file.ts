import type { PresetError } from '@stoker/protocol'
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml'

export const MAX_FILE_BYTES = 2 ** 20
/** Values that anchors may multiply to: templates fit, a bomb does not. */
const MAX_ALIASES = 1000
/** Maps whose values are text, as written: `1.10` is no number there. */
const TEXT_MAPS = ['env_vars', 'build_args']

export type Path = readonly (string | number)[]

/** What a file holds, and where in it: the place of a key, or of what should hold a key that is missing. */
export interface YamlFile {
  readonly value: unknown
  readonly errorAt: (path: Path, message: string) => PresetError
}

export type ReadYaml =
  | { readonly ok: true; readonly file: YamlFile }
  | { readonly ok: false; readonly errors: readonly PresetError[] }

export function readYaml(name: string, text: string): ReadYaml {
  const lines = new LineCounter()
  const error = (offset: number, message: string): PresetError => {
    const { line, col } = lines.linePos(offset)
    return { file: name, line: Math.max(line, 1), column: Math.max(col, 1), message }
  }
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true })
    if (document.errors.length > 0)
      return { ok: false, errors: document.errors.map(({ pos, message }) => error(pos[0], message)) }
    if (document.contents === null)
      return { ok: false, errors: [error(0, 'the file is empty; a file without entries holds {}')] }
    keepAsWritten(document)
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
    return {
      ok: true,
      file: { value, errorAt: (path, message) => error(offsetOf(document, path), message) },
    }
  } catch (cause) {
    return { ok: false, errors: [error(0, brokenText(cause))] }
  }
}

function brokenText(cause: unknown): string {
  if (cause instanceof RangeError) return 'it is nested too deeply to be read'
  const message = cause instanceof Error ? cause.message : String(cause)
  return /alias count/i.test(message) ? `its anchors and aliases make more than ${MAX_ALIASES} values` : message
}

function keepAsWritten(document: Document.Parsed): void {
  visit(document, {
    Pair(_, { key, value }) {
      if (!isScalar(key) || !TEXT_MAPS.includes(String(key.value))) return
      const map = resolved(document, value)
      for (const pair of isMap(map) ? map.items : [])
        if (isScalar(pair.value) && typeof pair.value.value !== 'string') pair.value.value = pair.value.source ?? ''
    },
  })
}

function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents
  let offset = 0
  for (const key of path) {
    const found = entryOf(document, node, key)
    if (found === null) return offset
    offset = startOf(found.at) ?? offset
    node = found.value
  }
  return offset
}

/** Where a key is written, also one that came by an alias or a merge. */
function entryOf(
  document: Document.Parsed,
  holder: unknown,
  key: string | number,
): { readonly at: unknown; readonly value: unknown } | null {
  const node = resolved(document, holder)
  if (isSeq(node)) {
    const item = typeof key === 'number' ? node.items[key] : undefined
    return item === undefined ? null : { at: item, value: item }
  }
  if (!isMap(node)) return null
  const pair = pairOf(node, String(key))
  if (pair !== undefined) return { at: pair.key, value: pair.value }
  const merged = pairOf(node, '<<')?.value
  for (const source of isSeq(merged) ? merged.items : [merged]) {
    const found = source === undefined ? null : entryOf(document, source, key)
    if (found !== null) return found
  }
  return null
}

function pairOf(map: YAMLMap, key: string) {
  return map.items.find(pair => String(isScalar(pair.key) ? (pair.key.source ?? pair.key.value) : pair.key) === key)
}

function resolved(document: Document.Parsed, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node
}

function startOf(node: unknown): number | null {
  return isNode(node) ? (node.range?.[0] ?? null) : null
}

import { sha256 } from './sha256.ts'

/** Leaves room below the usual 255 bytes for suffixes the caller adds. */
const MAX_LENGTH = 120
const MAX_EXTENSION = 16
const DEVICE_NAME = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i
const ALREADY_SAFE = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/

/** One path component that is harmless on every platform; altered text carries a hash, so different texts never share a name. */
export function safeName(text: string): string {
  if (isSafe(text)) return text
  const cleaned = text
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+|[.-]+$/g, '')
  const [stem, extension] = splitExtension(cleaned)
  const mark = `${sha256(text).slice(0, 12)}${extension}`
  const room = MAX_LENGTH - mark.length - 1
  const kept = stem.slice(0, room).replace(/[.-]+$/, '')
  return kept === '' || DEVICE_NAME.test(kept) ? `file-${mark}` : `${kept}-${mark}`
}

function isSafe(text: string): boolean {
  return ALREADY_SAFE.test(text) && text.length <= MAX_LENGTH && !text.endsWith('.') && !DEVICE_NAME.test(text)
}

function splitExtension(name: string): [stem: string, extension: string] {
  const dot = name.lastIndexOf('.')
  if (dot <= 0 || name.length - dot > MAX_EXTENSION) return [name, '']
  return [name.slice(0, dot), name.slice(dot)]
}

import { EVENT_NAMES, eventIn, formatSize, MAX_LINE_BYTES, nearest } from '@stoker/protocol'
import { errorAt, type Found, quoted, warningAt } from '../mistake.ts'
import type { Heard } from '../observation.ts'
import { fieldMistakes } from './field-rules.ts'

/** What is wrong with one line, taken by itself. */
export function lineMistakes(heard: Heard): Found[] {
  if (heard.truncated) return [tooLong(heard)]
  const encoding = heard.text.includes('\uFFFD') ? [notUtf8(heard)] : []
  if (heard.stream === 'stderr') return [...encoding, ...onStderr(heard)]
  return [...encoding, ...(heard.isEvent ? fieldMistakes(heard) : noEvent(heard))]
}

function tooLong(heard: Heard): Found {
  return errorAt(heard, {
    code: 'line.too_long',
    text: `a line has more than ${MAX_LINE_BYTES} bytes (${formatSize(MAX_LINE_BYTES)}): only its start is kept, as a log line`,
    todo: 'cut long answers into several text_delta events, and write what is longer to a file',
  })
}

function notUtf8(heard: Heard): Found {
  return warningAt(heard, {
    code: 'line.not_utf8',
    text: 'has bytes that are no UTF-8; they are shown as \uFFFD',
    todo: 'write UTF-8 (in Python: PYTHONIOENCODING=utf-8, or json.dumps as it is)',
  })
}

function onStderr(heard: Heard): Found[] {
  const said = eventIn(heard, 'stdout')
  if (said === null) return []
  return [
    errorAt(heard, {
      code: 'stderr.event',
      text: `the event ${said.event} is on stderr, where it is a log line`,
      todo: 'print events to stdout, and only talk to stderr',
    }),
  ]
}

function noEvent(heard: Heard): Found[] {
  const value = tryJson(heard.text)
  if (value === undefined) return looksLikeEvent(heard.text) ? [invalidJson(heard)] : []
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  const { type, event } = value as Readonly<Record<string, unknown>>
  const name = typeof event === 'string' ? event : type
  return typeof name === 'string' ? [unknownName(heard, name)] : []
}

function unknownName(heard: Heard, name: string): Found {
  const close = nearest(name, EVENT_NAMES)
  return warningAt(heard, {
    code: 'event.unknown',
    text: `no event is named "${quoted(name)}": the line is a log line`,
    todo: close === null ? `the names are: ${EVENT_NAMES.join(', ')}` : `did you mean "${close}"?`,
  })
}

const NAMES_EVENT = /["']?\b(event|type)\b["']?\s*[:=]/

/** Someone wanted to say an event here; other text that begins with a brace is nobody's mistake. */
function looksLikeEvent(text: string): boolean {
  return NAMES_EVENT.test(text) && /^\s*(data:\s*)?["'{]/.test(text)
}

function invalidJson(heard: Heard): Found {
  return errorAt(heard, {
    code: 'json.invalid',
    text: `looks like an event and is no JSON, so it is a log line: ${quoted(heard.text)}`,
    todo: hintFor(heard.text),
  })
}

function hintFor(text: string): string {
  if (/^\s*data:/.test(text)) return 'print the JSON alone: a program writes lines, the hub makes the stream of them'
  if (/\}\s*\{/.test(text)) return 'end each event with a newline: one JSON object per line'
  if (/[{,]\s*'/.test(text)) return 'this is how Python shows a dict; print json.dumps(...) instead'
  if (/:\s*(NaN|-?Infinity)\b/.test(text)) return 'JSON has no NaN and no Infinity; send null'
  if (/:\s*(True|False|None)\b/.test(text)) return 'these are words of Python; print json.dumps(...) instead'
  if (/,\s*[}\]]/.test(text)) return 'JSON allows no comma before a closing bracket'
  if (!/\}\s*$/.test(text)) return 'write an event on one line (no indent), with newlines in texts as \\n'
  return 'print what a JSON library makes, one object per line'
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

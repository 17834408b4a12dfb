import { formatSize, MAX_RESULT_BYTES } from '@stoker/protocol'
import { errorAt, type Found, quoted, warningAt } from '../mistake.ts'
import type { Heard } from '../observation.ts'

const LEVELS: readonly unknown[] = [undefined, 'debug', 'info', 'warning', 'error']

/** What an event lacks that its readers expect. Extra fields are nobody's mistake. */
export function fieldMistakes(heard: Heard): Found[] {
  const { event, fields } = heard.said
  if (event === 'text_delta') return textIn(heard, 'delta')
  if (event === 'text') return [...textIn(heard, 'content'), ...sizeOf(heard, { text: fields.content })]
  if (event === 'worker') return textIn(heard, 'status')
  if (event === 'logs') return [...textIn(heard, 'log'), ...level(heard)]
  if (event === 'progress') return percent(heard)
  return event === 'finish' ? [...status(heard), ...sizeOf(heard, fields.result)] : []
}

function textIn(heard: Heard, field: string): Found[] {
  const value = heard.said.fields[field]
  if (typeof value === 'string') return []
  const found = value === undefined ? 'it has none' : `it is ${quoted(JSON.stringify(value))}`
  return [
    warningAt(heard, {
      code: 'event.field',
      text: `${heard.said.event} should have the text "${field}", ${found}`,
      todo: `send {"event": "${heard.said.event}", "${field}": "…"}`,
    }),
  ]
}

function level(heard: Heard): Found[] {
  if (LEVELS.includes(heard.said.fields.level)) return []
  return [
    warningAt(heard, {
      code: 'event.field',
      text: `the level of a log is debug, info, warning or error, this one is ${quoted(JSON.stringify(heard.said.fields.level))}`,
      todo: 'use one of the four',
    }),
  ]
}

function percent(heard: Heard): Found[] {
  const value = heard.said.fields.percent
  if (value === undefined || value === null) return []
  if (typeof value === 'number' && value >= 0 && value <= 100) return []
  return [
    warningAt(heard, {
      code: 'event.field',
      text: `percent should be a number from 0 to 100, it is ${quoted(JSON.stringify(value))}`,
      todo: 'send 40 for 40 %, as a number',
    }),
  ]
}

function status(heard: Heard): Found[] {
  const value = heard.said.fields.status
  if (value === 'completed' || value === 'failed') return []
  const words = {
    code: 'finish.status',
    todo: 'send {"event": "finish", "status": "completed"}, or "failed" with an "error"',
  }
  return value === undefined
    ? [warningAt(heard, { ...words, text: 'finish has no status: it counts as completed' })]
    : [
        errorAt(heard, {
          ...words,
          text: `finish should be completed or failed, it is ${quoted(JSON.stringify(value))}`,
        }),
      ]
}

function sizeOf(heard: Heard, result: unknown): Found[] {
  const bytes = Buffer.byteLength(JSON.stringify(result) ?? '')
  if (bytes <= MAX_RESULT_BYTES) return []
  return [
    warningAt(heard, {
      code: 'result.too_large',
      text: `the result has ${bytes} bytes, at most ${MAX_RESULT_BYTES} (${formatSize(MAX_RESULT_BYTES)}) are kept`,
      todo: 'write it to a file that the job lists in its outputs',
    }),
  ]
}

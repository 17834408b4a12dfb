import type { Json } from './state.ts'

let lastValue: Json = null
let lastText = 'null'

/** The text of a value that nobody changes any more: what goes both to a row and to the journal is written once. */
export function jsonOf(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (value === lastValue) return lastText
  lastValue = value
  lastText = JSON.stringify(value)
  return lastText
}

/** The words a program may say on stdout; `log` and `task_finish` are older spellings of `logs` and `finish`. */
const NAMES: Readonly<Record<string, ProgramEventName>> = {
  connection: 'connection',
  worker: 'worker',
  text_delta: 'text_delta',
  text: 'text',
  logs: 'logs',
  log: 'logs',
  finish: 'finish',
  task_finish: 'finish',
  progress: 'progress',
  checkpoint: 'checkpoint',
  artifact: 'artifact',
}

export type ProgramEventName =
  | 'connection'
  | 'worker'
  | 'text_delta'
  | 'text'
  | 'logs'
  | 'finish'
  | 'progress'
  | 'checkpoint'
  | 'artifact'
export type Level = 'debug' | 'info' | 'warning' | 'error'
export type OutputStream = 'stdout' | 'stderr'

export interface ProgramEvent {
  readonly event: ProgramEventName
  readonly fields: Readonly<Record<string, unknown>>
}

/** Every name a program may use, older spellings included. */
export const EVENT_NAMES: readonly string[] = Object.keys(NAMES)

/** What a line was: its text, and whether that is only the start of it. */
export interface SaidLine {
  readonly text: string
  readonly truncated: boolean
}

/** A line that is not a known event is a log line: a chatty program never fails its job. */
export function parseLine(line: SaidLine, stream: OutputStream): ProgramEvent {
  const said = eventIn(line, stream)
  if (said !== null) return said
  const log = { log: line.text, level: levelOf(line.text), stream }
  return { event: 'logs', fields: line.truncated ? { ...log, truncated: true } : log }
}

/** The event a line is, or null: then it is a log line, as the start of a line that was cut always is. */
export function eventIn({ text, truncated }: SaidLine, stream: OutputStream): ProgramEvent | null {
  return stream === 'stdout' && !truncated && OBJECT.test(text) ? parseEvent(text) : null
}

/** What JSON may have in front of an object; tried first, as most lines are no events. */
const OBJECT = /^[ \t]*\{/

function parseEvent(line: string): ProgramEvent | null {
  const value = tryJson(line)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { type, event, data, ...rest } = value as Record<string, unknown>
  const byType = knownName(type)
  const name = byType ?? knownName(event)
  if (name === null) return null
  if (typeof data === 'object' && data !== null && !Array.isArray(data))
    return { event: name, fields: withOwner(data as Record<string, unknown>, rest.task_id) }
  const others = byType === null ? withKey(rest, 'type', type) : withKey(rest, 'event', event)
  return { event: name, fields: withKey(others, 'data', data) }
}

/** Whose event it is may stand beside its fields. */
function withOwner(fields: Record<string, unknown>, taskId: unknown): Record<string, unknown> {
  return taskId === undefined || 'task_id' in fields ? fields : { ...fields, task_id: taskId }
}

function knownName(name: unknown): ProgramEventName | null {
  return typeof name === 'string' && Object.hasOwn(NAMES, name) ? (NAMES[name] ?? null) : null
}

function withKey(fields: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  return value === undefined ? fields : { ...fields, [key]: value }
}

/** The level a log line names at its beginning. */
export function levelOf(line: string): Level {
  const prefix = /^(ERROR|WARNING|INFO|DEBUG):/.exec(line)?.[1]
  return prefix === undefined ? 'info' : (prefix.toLowerCase() as Level)
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

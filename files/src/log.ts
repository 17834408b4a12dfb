export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export const LOG_FORMATS = ['text', 'json'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/** Facts beside the sentence, for whoever searches logs. */
export type LogFields = Readonly<Record<string, string | number | boolean | null>>
export type Log = (level: LogLevel, text: string, fields?: LogFields) => void

export interface LogOptions {
  /** Whose log it is. */
  readonly part: string
  readonly format: LogFormat
  readonly level: LogLevel
  readonly write: (line: string) => void
  readonly now: () => number
}

/** One line an event: a sentence for people, or JSON with the same sentence and its facts for machines. */
export function createLog({ part, format, level: least, write, now }: LogOptions): Log {
  return (level, text, fields = {}) => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return
    const line = format === 'text' ? `stoker ${part}: ${text}` : json(level, text, fields)
    write(`${line}\n`)
  }

  function json(level: LogLevel, text: string, fields: LogFields): string {
    return JSON.stringify({ time: new Date(now()).toISOString(), level, part, text, ...fields })
  }
}

/** What the command line says about logs; refuses other words with what is allowed. */
export function logChoice(values: { readonly format: string | undefined; readonly level: string | undefined }): {
  readonly format: LogFormat
  readonly level: LogLevel
} {
  return {
    format: oneOf(LOG_FORMATS, values.format ?? 'text', '--log-format'),
    level: oneOf(LOG_LEVELS, values.level ?? 'info', '--log-level'),
  }
}

function oneOf<T extends string>(allowed: readonly T[], found: string, option: string): T {
  const match = allowed.find(each => each === found)
  if (match === undefined) throw new Error(`${option} is one of ${allowed.join(', ')}, found ${found}`)
  return match
}

import { MAX_RESULT_BYTES } from '@stoker/protocol'
import type { CompleteBody } from './bodies.ts'
import { doubtsOn } from './doubts.ts'
import type { Variant } from './provider-note.ts'
import { storable } from './storable.ts'

/** What a job ended with, as the house keeps it; long texts go to its log. */
export interface ToldEnd {
  readonly outcome: 'completed' | 'failed'
  readonly error: string | null
  readonly exitCode: number | null
  readonly note: string | null
  readonly result: Json
  readonly stdout: string
  readonly stderr: string
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
type Fields = { readonly [key: string]: Json }

const LONGEST_ERROR = 2000

export interface Teller {
  readonly variant: Variant | null
  readonly type: string
  readonly isTrusted: boolean
}

/** What a worker says of an end, told apart into result, error and output. */
export function toldEnd(body: CompleteBody, teller: Teller): ToldEnd {
  const told = (body.result ?? body.result_url ?? null) as Json
  const fields = isFields(told) ? told : {}
  const stderr = [linesOf(fields.stderr), textOf(fields.errorDetails)]
  if (body.status === 'completed') {
    const { result, overflow } = keptResult(marked(told, body, teller))
    return {
      outcome: 'completed',
      error: null,
      exitCode: wholeOf(fields.exitCode),
      note: overflow === '' ? null : `the result has more than ${MAX_RESULT_BYTES} bytes; it is in the log`,
      result,
      stdout: lined(linesOf(fields.stdout), overflow),
      stderr: lined(...stderr),
    }
  }
  const error = body.error || textOf(fields.error) || 'the worker reported a failure without a reason'
  const isLong = error.length > LONGEST_ERROR
  return {
    outcome: 'failed',
    error: `${storable(error, LONGEST_ERROR)}${isLong ? '… (the rest is in the log)' : ''}`,
    exitCode: wholeOf(fields.exitCode) ?? exitCodeIn(error),
    note: null,
    result: null,
    stdout: lined(linesOf(fields.stdout)),
    stderr: lined(isLong ? error : '', ...stderr),
  }
}

/** Averages that came beside the result are kept in it; what nobody can vouch for says so itself. */
function marked(told: Json, { metrics }: CompleteBody, teller: Teller): Json {
  const doubts = doubtsOn(told, teller)
  const averages = Object.keys(metrics ?? {}).length === 0 ? null : (metrics as Fields)
  const fields: Fields = isFields(told) ? inFractions(told, teller.variant) : told === null ? {} : { value: told }
  const more = {
    ...(averages === null || fields.metrics !== undefined ? {} : { metrics: averages }),
    ...(doubts.length === 0 ? {} : { unverified: true, unverifiedBecause: doubts }),
  }
  if (Object.keys(more).length === 0) return isFields(told) ? fields : told
  return { ...fields, ...more }
}

/** The enhanced worker speaks of accuracy in percent; everyone else, and this house, in fractions. */
function inFractions(told: Fields, variant: Variant | null): Fields {
  if (variant !== 'enhanced') return told
  const { finalAccuracy, trainingMetrics } = told
  return {
    ...told,
    ...(typeof finalAccuracy === 'number' ? { finalAccuracy: finalAccuracy / 100 } : {}),
    ...(Array.isArray(trainingMetrics) ? { trainingMetrics: trainingMetrics.map(epochInFractions) } : {}),
  }
}

function epochInFractions(epoch: Json): Json {
  return isFields(epoch) && typeof epoch.accuracy === 'number' ? { ...epoch, accuracy: epoch.accuracy / 100 } : epoch
}

function keptResult(result: Json): { readonly result: Json; readonly overflow: string } {
  const text = JSON.stringify(result)
  return Buffer.byteLength(text) <= MAX_RESULT_BYTES ? { result, overflow: '' } : { result: null, overflow: text }
}

function exitCodeIn(error: string): number | null {
  const code = /^Script failed with exit code (-?\d{1,9})\b/.exec(error)?.[1]
  return code === undefined ? null : Number(code)
}

function isFields(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function wholeOf(value: Json | undefined): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Lists of lines end with an empty one when the output ended with a newline. */
function linesOf(value: Json | undefined): string {
  return Array.isArray(value)
    ? value.map(line => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
    : ''
}

/** Each text on lines of its own. */
function lined(...texts: readonly string[]): string {
  return texts.map(text => (text === '' || text.endsWith('\n') ? text : `${text}\n`)).join('')
}

import { type Change, type ChangeOf, JOURNAL_VERSION } from '@stoker/protocol'
import { jsonOf } from './json-of.ts'

/** The body of a journal row, made of the texts of its changes; joined, not added up: what is added up is kept in pieces. */
export function journalBody(epoch: number, changes: readonly string[]): string {
  const pieces = [`{"v":${JOURNAL_VERSION},"epoch":${epoch},"changes":[`]
  for (let at = 0; at < changes.length; at += 1) pieces.push(at === 0 ? '' : ',', changes[at] ?? '')
  pieces.push(']}')
  return pieces.join('')
}

/** Letter for letter what `JSON.stringify` makes of a change. Those that a job's life is made of are written out: most of their letters are known beforehand. */
export function changeText(change: Change): string {
  switch (change.c) {
    case 'attemptEnded':
      return attemptEndedText(change)
    case 'batch':
      return `{"c":"batch","worker":${quoted(change.worker)},"n":${change.n}}`
    case 'placed':
      return placedText(change)
    case 'running':
      return runningText(change)
    default:
      return JSON.stringify(change)
  }
}

function placedText({ job, epoch, attempt, worker, gpus, at, session }: ChangeOf<'placed'>): string {
  const devices = gpus.length === 0 ? '[]' : JSON.stringify(gpus)
  const inside = session === undefined ? '' : `,"session":${session}`
  return `{"c":"placed","job":${job},"epoch":${epoch},"attempt":${attempt},"worker":${quoted(worker)},"gpus":${devices},"at":${at}${inside}}`
}

function runningText({ job, at, isolation, containerId }: ChangeOf<'running'>): string {
  const how = isolation === null ? 'null' : `"${isolation}"`
  return `{"c":"running","job":${job},"at":${at},"isolation":${how}${member('containerId', containerId)}}`
}

function attemptEndedText(change: ChangeOf<'attemptEnded'>): string {
  const { job, epoch, attempt, outcome, at, startedAt, exitCode, next, failures, lost } = change
  const always = `{"c":"attemptEnded","job":${job},"epoch":${epoch},"attempt":${attempt},"outcome":"${outcome}","at":${at},"startedAt":${startedAt},"exitCode":${exitCode},"next":"${next}","failures":${failures},"lost":${lost}`
  const { signal, error, note, usage, result, dueAt, reason, artifacts } = change
  const how = `${member('signal', signal)}${member('error', error)}${member('note', note)}${member('usage', usage)}`
  const then = `${member('result', result)}${member('dueAt', dueAt)}${member('reason', reason)}`
  return `${always}${how}${then}${member('artifacts', artifacts)}}`
}

type Member = ChangeOf<'attemptEnded'>['result']

/** What a change does not have is not written. */
function member(name: string, value: Member): string {
  return value === undefined ? '' : `,"${name}":${jsonOf(value)}`
}

/** Ids hardly ever have a letter that is written in another way. */
function quoted(text: string): string {
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at)
    if (letter < 0x20 || letter > 0x7e || letter === 0x22 || letter === 0x5c) return JSON.stringify(text)
  }
  return `"${text}"`
}

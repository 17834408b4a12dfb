import { type Explanation, formatDuration, type StartingChange, type WaitReason } from '@stoker/protocol'
import { shortId, stateText } from './job-words.ts'
import type { Paper } from './paper.ts'
import { plainText, widthOf } from './plain-text.ts'
import type { View } from './printer.ts'

type Fact = readonly [name: string, text: string]

/** Why a job waits, on one screen; `command` is how this program was called. */
export function explainView(command: string): View<Explanation> {
  return {
    ids: ({ job }) => [job.id],
    human(explanation, paper) {
      const { job, summary } = explanation
      const head = `${shortId(job.id)}  ${stateText(job.state, job.state, paper)}  ${plainText(job.name)}`
      const facts: Fact[] = [
        ['why', plainText(summary)],
        ...waitsFor(explanation),
        ...explanation.reasons.map((reason, index): Fact => [label(explanation, index), reasonText(reason)]),
        ['ahead', aheadText(explanation)],
        ['starts', startText(explanation, paper.now)],
        ...explanation.changes.map(
          (change, index): Fact => [index === 0 ? 'now if' : 'or', changeText(change, explanation, command)],
        ),
      ]
      return [head, ...facts.filter(([, text]) => text !== '').map(([name, text]) => line(name, text, paper))].join(
        '\n',
      )
    },
  }
}

const WIDE = 9

/** A text wider than the paper goes on under itself. */
function line(name: string, text: string, { color, columns }: Paper): string {
  const room = columns === undefined ? Number.POSITIVE_INFINITY : Math.max(20, columns - WIDE - 2)
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last === '') lines[lines.length - 1] = word
    else if (widthOf(last) + 1 + widthOf(word) > room) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return `${color.dim(name.padEnd(WIDE))}  ${lines.join(`\n${' '.repeat(WIDE + 2)}`)}`
}

const WHEN: Readonly<Record<WaitReason['when'], string>> = { notNow: 'not now', never: 'never' }

/** Once for reasons of one kind that follow each other. */
function label({ reasons }: Explanation, index: number): string {
  const when = reasons[index]?.when ?? 'notNow'
  return index > 0 && reasons[index - 1]?.when === when ? '' : WHEN[when]
}

function reasonText({ workers, text, closest, codes, job }: WaitReason): string {
  const { count, names } = workers
  if (codes.some(code => code.startsWith('session.'))) return plainText(text)
  if (codes.includes('owner.limit'))
    return count === 0 ? plainText(text) : `${plainText(text)}; ${who(count, names)} could take it`
  if (count === 1) return plainText(`${text}${job === null ? '' : ` (job ${shortId(job)})`}`)
  const near = closest === null ? '' : `, closest ${closest}`
  const kept = job === null ? '' : ` (job ${shortId(job)})`
  return plainText(`${who(count, names)}${near}: ${text}${kept}`)
}

function who(count: number, names: readonly string[]): string {
  if (count === 1) return names[0] ?? '1 worker'
  return `${count} workers (${names.join(', ')}${count > names.length ? ', …' : ''})`
}

function waitsFor({ waitingFor }: Explanation): Fact[] {
  if (waitingFor === null || waitingFor.unmet < 2) return []
  const { dependencies, unmet } = waitingFor
  const told = dependencies.map(
    ({ job, on, state }, index): Fact => [index === 0 ? 'waits for' : '', `${on} of ${shortId(job)} (${state})`],
  )
  return unmet > dependencies.length ? [...told, ['', `${unmet - dependencies.length} more`]] : told
}

function aheadText({ position }: Explanation): string {
  if (position === null) return ''
  const { ahead, isExact } = position
  if (ahead === 0) return 'no job that competes for its workers'
  return `${isExact ? '' : 'about '}${ahead.toLocaleString('en')} ${ahead === 1 ? 'job that competes' : 'jobs that compete'} for its workers`
}

function startText({ start }: Explanation, now: number): string {
  if (start === null) return ''
  const { p50, p90, basis } = start
  const within = (at: string): string => formatDuration(Math.max(1000, Date.parse(at) - now))
  if (p50 === null) return `not known: ${basis}`
  if (p90 === null) return `in about ${within(p50)}, perhaps much later (${basis})`
  return `in about ${within(p50)}, most likely within ${within(p90)} (${basis})`
}

/** What to type, where one line does it. */
function changeText({ kind, text, edits, worker }: StartingChange, { job }: Explanation, command: string): string {
  const [edit] = edits
  const id = shortId(job.id)
  const lines: Readonly<Partial<Record<StartingChange['kind'], string>>> = {
    release: `release ${id}`,
    priority: `priority ${id} ${edit?.to}`,
    resume: `resume ${worker}`,
    limit: `owner limit ${job.owner} --${edit?.field.replace('limits.', '')} ${edit?.to ?? 'none'}`,
  }
  const type = lines[kind]
  return plainText(`${text}, on ${worker}${type === undefined ? '' : `: ${command} ${type}`}`)
}

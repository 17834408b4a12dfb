import type { JobRow } from '@stoker/protocol'
import { BEGINNING, followJob } from '../../serving/follow-job.ts'
import { ProgramEvents } from '../../serving/program-events.ts'
import { Answer } from './answer.ts'
import { ApiError, unavailable } from './api-error.ts'

/** More than any model says at once: who sends it without an end does not fill the hub. */
const MOST_CHARACTERS = 16 * 1024 * 1024

/** What is learned of a task: pieces of its text, that it lives, and its whole answer at the end. */
export type AnswerNews =
  | { readonly kind: 'delta'; readonly text: string }
  | { readonly kind: 'state'; readonly row: JobRow }
  | { readonly kind: 'quiet' }
  | { readonly kind: 'end'; readonly answer: Answer }

type Ports = Parameters<typeof followJob>[0]

/** Follows a task to its end, which is told or thrown. Pieces of text are told as they come, of one attempt only. */
export async function* followAnswer(
  ports: Ports,
  known: JobRow,
  signal: AbortSignal,
): AsyncGenerator<AnswerNews, void> {
  let attempt = 1
  let events = new ProgramEvents()
  let answer = new Answer()
  let hasTold = false
  for await (const news of followJob(ports, known, { attempt, offsets: BEGINNING, only: 'stdout' }, signal)) {
    if (news.kind === 'quiet') yield news
    else if (news.kind === 'job') yield { kind: 'state', row: news.row }
    else if (news.kind === 'end') return yield { kind: 'end', answer: ended(news.row, answer) }
    else if (news.kind !== 'output' && news.kind !== 'over') continue
    else {
      if (news.attempt !== attempt) {
        if (hasTold) throw broken()
        attempt = news.attempt
        events = new ProgramEvents()
        answer = new Answer()
      }
      for (const event of news.kind === 'output' ? events.push(news.pieces) : events.end()) {
        const text = answer.hear(event)
        if (text === null || text === '') continue
        hasTold = true
        yield { kind: 'delta', text }
      }
      if (answer.length > MOST_CHARACTERS)
        throw new ApiError(502, `the program said more than ${MOST_CHARACTERS} characters`, { type: 'server_error' })
    }
  }
  throw unavailable('the hub is stopping; the task goes on, its answer is kept as a job', 'hub_stopping')
}

/** The worker of the first pieces was lost: the task runs again elsewhere, but what was told cannot be taken back. */
function broken(): ApiError {
  return new ApiError(502, 'the answer broke off: its worker was lost in the middle of it', {
    type: 'server_error',
    code: 'answer_broken',
  })
}

function ended(row: JobRow, answer: Answer): Answer {
  if (row.state === 'succeeded') return answer
  const reason = row.reason ?? row.error ?? row.state
  if (row.state === 'timed_out')
    throw new ApiError(504, `the program did not answer in time: ${reason}`, { type: 'server_error', code: 'timeout' })
  if (row.state === 'canceled') throw unavailable(`the task was ${reason}`, 'canceled')
  if (answer.failure !== null) throw new ApiError(500, answer.failure, { type: 'server_error', code: 'program_failed' })
  throw new ApiError(502, `the program did not answer: ${reason}`, { type: 'server_error', code: 'program_died' })
}

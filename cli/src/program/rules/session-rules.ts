import { formatDuration } from '@stoker/protocol'
import { errorAt, type Found, warningAt } from '../mistake.ts'
import { endText, eventsOf, type Heard, type Limits, type Observation } from '../observation.ts'
import { isReady } from '../observe.ts'
import { twice } from './once-rules.ts'

/** What is wrong with how a session took its tasks and ended. */
export function sessionMistakes(run: Observation, limits: Limits): Found[] {
  const finishes = eventsOf(run, 'finish')
  const failures = finishes.filter(one => one.said.fields.status === 'failed').map(failedTask)
  return [...failures, ...howItWent(run, finishes, limits)]
}

function howItWent(run: Observation, finishes: readonly Heard[], limits: Limits): Found[] {
  const extra = finishes[run.tasksSent]
  if (extra !== undefined) return [twice(extra)]
  if (run.inputEndedAtMs !== null && finishes.length === run.tasksSent) return atEnd(run, limits)
  const last = finishes.at(-1)
  const isSilentSince = last !== undefined && run.heard.filter(one => one.stream === 'stdout').at(-1) === last
  return [isSilentSince && !run.hasTimedOut ? endedEarly(run) : unanswered(run, finishes.length, limits)]
}

function failedTask(heard: Heard): Found {
  const { error, message } = heard.said.fields
  return warningAt(heard, {
    code: 'run.failed',
    text: `the task failed and said so as it should: ${String(error ?? message ?? 'without a reason')}`,
    todo: 'check it with an --input that succeeds, too',
  })
}

function unanswered(run: Observation, answered: number, { timeoutMs }: Limits): Found {
  const isEverReady = answered > 0 || eventsOf(run, 'worker').some(one => isReady(one.said.fields.status))
  const when = run.hasTimedOut ? `within ${formatDuration(timeoutMs)}` : `before it ended with ${endText(run)}`
  if (!isEverReady)
    return errorAt(null, {
      code: 'session.never_ready',
      text: `it was never ready: neither worker ready or waiting nor a finish ${when}`,
      todo: 'say {"event": "worker", "status": "ready"} when the model is loaded, and flush it',
    })
  return errorAt(null, {
    code: 'session.unanswered',
    text: `task ${answered + 1} got no finish ${when}`,
    todo: 'read a line from stdin (readline, not read), end each task with finish, and flush every line',
  })
}

/** Legal: such a program only never stays warm. An error code is judged like that of a one-off. */
function endedEarly(run: Observation): Found {
  if (run.exitCode === 0)
    return warningAt(null, {
      code: 'session.one_off',
      text: 'it ended after its first task: legal, but nothing stays loaded for the next one',
      todo: 'read the next line from stdin after finish, until stdin ends',
    })
  return errorAt(null, {
    code: 'session.died',
    text: `it ended with ${endText(run)} between two tasks`,
    todo: 'catch what fails in a task, say finish failed, and go on with the next line',
  })
}

function atEnd(run: Observation, { graceMs }: Limits): Found[] {
  if (run.wasKilled)
    return [
      errorAt(null, {
        code: 'session.eof_ignored',
        text: `it did not end within ${formatDuration(graceMs)} after the end of stdin and had to be killed`,
        todo: 'leave the loop when stdin ends',
      }),
    ]
  if (run.exitCode === 0) return []
  return [
    errorAt(null, {
      code: 'session.eof_error',
      text: `at the end of stdin it ended with ${endText(run)}`,
      todo: 'take the end of stdin as a request to end with exit code 0',
    }),
  ]
}

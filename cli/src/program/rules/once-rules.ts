import { formatDuration } from '@stoker/protocol'
import { errorAt, type Found, warningAt } from '../mistake.ts'
import { endText, eventsOf, type Heard, type Limits, type Observation } from '../observation.ts'

/** What is wrong with how a one-off ended. */
export function onceMistakes(run: Observation, limits: Limits): Found[] {
  const [finish, second] = eventsOf(run, 'finish')
  if (finish === undefined) return [run.hasTimedOut ? tooSlow(run, limits) : noFinish(run)]
  return [
    ...(second === undefined ? [] : [twice(second)]),
    ...talkAfter(run, finish),
    ...(run.hasTimedOut ? [tooSlow(run, limits)] : exitAfter(run, finish)),
  ]
}

function tooSlow(run: Observation, { timeoutMs }: Limits): Found {
  const last = run.heard.at(-1)
  const said = last === undefined ? 'it said nothing' : `the last line came after ${formatDuration(last.atMs)}`
  return errorAt(null, {
    code: 'run.timeout',
    text: `it still ran after ${formatDuration(timeoutMs)}; ${said}`,
    todo: 'let it exit when it is done, or give it more time with --timeout; a program that takes tasks from stdin needs --session',
  })
}

function noFinish(run: Observation): Found {
  return errorAt(null, {
    code: 'finish.missing',
    text: `it ended with ${endText(run)} and without a finish event`,
    todo: 'end with {"event": "finish", "status": "completed"}, or "failed" with an "error" and an exit code other than 0',
  })
}

export function twice(heard: Heard): Found {
  return errorAt(heard, {
    code: 'finish.twice',
    text: 'finish was said already: a task has one',
    todo: 'say finish in one place only, as the last thing',
  })
}

/** Other events are lost on those who stopped listening; plain lines are only late. */
function talkAfter(run: Observation, finish: Heard): Found[] {
  const later = run.heard.slice(run.heard.indexOf(finish) + 1).filter(one => one.stream === 'stdout')
  const event = later.find(one => one.isEvent && one.said.event !== 'finish')
  const words = { code: 'finish.not_last', todo: 'say finish last' }
  if (event !== undefined)
    return [
      errorAt(event, { ...words, text: `the event ${event.said.event} comes after finish: nobody listens any more` }),
    ]
  const [line] = later.filter(one => !one.isEvent)
  return line === undefined ? [] : [warningAt(line, { ...words, text: 'it goes on printing after finish' })]
}

function exitAfter(run: Observation, finish: Heard): Found[] {
  const { status, error, message } = finish.said.fields
  const isClean = run.exitCode === 0
  if (status === 'failed' && isClean)
    return [
      errorAt(null, {
        code: 'exit.after_failed',
        text: 'it said finish failed and ended with exit code 0',
        todo: 'end with a code other than 0 after a failure: sys.exit(1)',
      }),
    ]
  if (status === 'failed')
    return [
      warningAt(null, {
        code: 'run.failed',
        text: `it failed and said so as it should: ${String(error ?? message ?? 'without a reason')}`,
        todo: 'check it with an --input that succeeds, too',
      }),
    ]
  if (isClean) return []
  return [
    errorAt(null, {
      code: 'exit.after_completed',
      text: `it said finish ${String(status)} and ended with ${endText(run)}: the task counts as failed`,
      todo: 'end with 0 after a success; what fails after finish (clean-up, threads, exit hooks) should come before it',
    }),
  ]
}

import { beforeEach, expect, test } from 'vitest'
import { aJob, openStream, refuse, sse } from '../../../client/src/test-hub.ts'
import { useTestHub } from '../test-terminal.ts'

const { hub, stoker } = useTestHub()
let tell = () => {}
let isTold = false

beforeEach(() => {
  isTold = false
  tell = () => {}
  hub().on('GET /api/v1/feed', (_, response) => {
    openStream(response)
    response.write(': here\n\n')
    tell = () => response.write(sse('change', { n: 1, at: 1, changes: [{ c: 'x' }] }, '1'))
    if (isTold) tell()
  })
})

/** Something changes, and whoever follows the feed hears of it, also one who connects only now. */
function change(act: () => unknown): void {
  act()
  isTold = true
  tell()
}

function add(of: Parameters<typeof aJob>[0]): string {
  const job = aJob(of)
  hub().jobs.set(job.id, job)
  return job.id
}

/** Does each thing once, when its text has appeared. */
function script(...steps: readonly [until: string, act: (stop: () => void) => void][]) {
  const left = [...steps]
  return (text: string, stop: () => void) => {
    const [step] = left
    if (step === undefined || !text.includes(step[0])) return
    left.shift()
    step[1](stop)
  }
}

test('a pipe gets a snapshot for each change and none for none', async () => {
  add({ name: 'first' })
  const onWrite = script(['first', () => change(() => add({ name: 'second' }))], ['second', stop => stop()])
  const { code, stdout } = await stoker(['list', '--watch', '60'], { onWrite })
  expect(code).toBe(0)
  expect(stdout.split('\n\n').map(part => part.includes('second'))).toEqual([false, true])
})

test('with --json each snapshot is one line', async () => {
  add({ name: 'first' })
  const onWrite = script(['first', () => change(() => add({ name: 'second' }))], ['second', stop => stop()])
  const { stdout } = await stoker(['list', '--json', '--watch', '60'], { onWrite })
  expect(
    stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).jobs.length),
  ).toEqual([1, 2])
})

test('a terminal is drawn on a second screen and given back as it was', async () => {
  add({ name: 'first' })
  const { code, stdout, stderr } = await stoker(['list', '-w'], {
    columns: 80,
    onWrite: script(['first', stop => stop()]),
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.startsWith('\u001b[?1049h\u001b[?25l\u001b[H')).toBe(true)
  expect(stdout.endsWith('\u001b[?25h\u001b[?1049l')).toBe(true)
  expect(stdout.split('\u001b[?1049h')).toHaveLength(2)
})

test('a watched job ends the watching with its end, which stays on the terminal', async () => {
  const id = add({ name: 'it', state: 'active' })
  const job = hub().jobs.get(id)
  const onWrite = script(['active', () => change(() => hub().jobs.set(id, { ...(job ?? aJob()), state: 'succeeded' }))])
  const { code, stdout } = await stoker(['show', id, '-w', '60'], { columns: 80, onWrite })
  expect(code).toBe(0)
  expect(stdout.split('\u001b[?1049l')[1]).toContain('succeeded')
})

test('a hub that goes away leaves the last picture, with a word about it', async () => {
  add({ name: 'first' })
  const gone = () => hub().on('GET /api/v1/jobs', (_, response) => refuse(response, 'hub.stopping', 'stopping'))
  const onWrite = script(['first', () => change(gone)], ['the hub is away', stop => stop()])
  const { code, stdout } = await stoker(['list', '-w', '60'], { columns: 80, onWrite })
  expect({ code, times: stdout.split('first').length }).toEqual({ code: 0, times: 3 })
})

test('a time that cannot be meant is refused', async () => {
  expect(await stoker(['list', '--watch', '0'])).toMatchObject({ code: 2, stderr: expect.stringContaining('0.5') })
})

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { refuse } from '../../../client/src/test-hub.ts'
import { useTestHub } from '../test-terminal.ts'

const { hub, stoker, home } = useTestHub()
/** The spec of the last submit, as it was sent. */
const sent = () => JSON.parse(hub().seen.findLast(({ method }) => method === 'POST')?.body ?? '{}')

test('a preset alone is a job, with inputs of the command line', async () => {
  await stoker(['run', '--detach', '--preset', 'words/count', '--input', 'text=a b', '--timeout', '1m'])
  expect(sent()).toEqual({ preset: 'words/count', input: { text: 'a b' }, timeout: '1m' })
})

test('a file may name the preset, the command line wins', async () => {
  const file = join(home(), 'job.yaml')
  await writeFile(file, 'preset: words/count\ninput: {text: x}\n')
  await stoker(['submit', file, '--preset', 'words/lines'])
  expect(sent()).toEqual({ preset: 'words/lines', input: { text: 'x' } })
})

test('an unknown preset is refused with the nearest name', async () => {
  const message = 'no preset "words/cuont"; did you mean "words/count"?'
  hub().on('POST /api/v1/jobs', (_, response) =>
    refuse(response, 'preset.not_found', message, [{ path: 'preset', message }]),
  )
  const told = expect.stringContaining('did you mean "words/count"?')
  expect(await stoker(['run', '--preset', 'words/cuont'])).toMatchObject({ code: 125, stderr: told })
  expect(await stoker(['submit', '-'], { stdin: 'preset: words/cuont' })).toMatchObject({ code: 3, stderr: told })
})

test('without a program, a file or a preset run says what it takes', async () => {
  expect(await stoker(['run'])).toMatchObject({ code: 2, stderr: expect.stringContaining('behind --') })
})

import { execFile, spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, expect, test } from 'vitest'
import { aJob, reply } from '../../../client/src/test-hub.ts'
import { useTestHub } from '../test-terminal.ts'
import { SCRIPTS, type Shell } from './scripts.ts'

const { hub, stoker, home } = useTestHub()
const words = async (...typed: readonly string[]) =>
  (await stoker(['__complete', '--', ...typed])).stdout
    .trim()
    .split('\n')
    .map(line => line.split('\t')[0] ?? '')

beforeEach(() => {
  hub().on('GET /api/v1/workers', (_, response) => reply(response, 200, { workers: [] }))
})

test('commands, options and fixed values come from the commands themselves', async () => {
  expect(await words('')).toEqual(expect.arrayContaining(['run', 'doctor', 'completion']))
  expect(await words('')).not.toContain('__complete')
  expect(await words('lo')).toEqual(['logs'])
  expect(await words('logs', '--f')).toEqual(['--follow'])
  expect(await words('logs', '--stream', '')).toEqual(['stdout', 'stderr'])
  expect(await words('logs', '--stream=std')).toEqual(['--stream=stdout', '--stream=stderr'])
  expect(await words('completion', 'z')).toEqual(['zsh'])
  expect(await words('token', 're')).toEqual(['revoke'])
  expect(await words('token', 'create', '--role', 's')).toEqual(['submit'])
  expect(await words('submit', '')).toEqual([':files'])
  expect(await words('run', '--', 'py')).toEqual([':files'])
})

test('jobs are asked from the hub, words for them are offered where many fit', async () => {
  const job = aJob({ name: 'train' })
  hub().jobs.set(job.id, job)
  expect(await words('show', '')).toEqual([job.id.slice(-12), 'last'])
  expect(await words('cancel', 'fai')).toEqual(['failed'])
})

test('a hub that does not answer costs a moment and nothing else', async () => {
  hub().on('GET /api/v1/jobs', () => {})
  expect(await words('show', '')).toEqual(['last'])
  expect((await stoker(['__complete', '--', 'drain', ''], { env: { STOKER_URL: 'http://127.0.0.1:9' } })).stdout).toBe(
    '',
  )
})

/** How each shell is made to complete a line without a keyboard, and says what it would offer. */
const ASK: Readonly<Record<Shell, (script: string, line: string) => readonly string[]>> = {
  bash: (script, line) => [
    '-c',
    `source ${script}; COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; read -ra COMP_WORDS <<< "$COMP_LINE"
     [[ $COMP_LINE == *' ' ]] && COMP_WORDS+=(''); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); compopt() { :; }; _stoker; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  zsh: (script, line) => [
    '-c',
    `autoload -U compinit; compinit -D -u; source ${script}; _describe() { eval "print -l -- \\"\\\${$3[@]%%:*}\\"" }
     words=(\${(z)"$(print -r -- '${line}')"}); [[ '${line}' == *' ' ]] && words+=(''); CURRENT=$#words; _stoker`,
  ],
  fish: (script, line) => ['-N', '-c', `source ${script}; complete -C '${line}'`],
}

test.each(['bash', 'zsh', 'fish'] as const)('%s offers what the program says', async shell => {
  if (spawnSync(shell, ['-c', 'exit 0']).status !== 0) return console.log(`${shell} is not installed here: not tried`)
  const folder = join(home(), 'bin')
  await mkdir(folder)
  await writeFile(join(folder, 'script'), SCRIPTS[shell])
  const answer = `#!/bin/sh\n[ "$1 $2 $3 $4" = "__complete -- logs la" ] && printf 'last\\tyour newest job\\nlate\\n'\nexit 0\n`
  await writeFile(join(folder, 'stoker'), answer, { mode: 0o755 })
  const env = { PATH: `${folder}:/usr/bin:/bin`, HOME: home() }
  const { stdout } = await promisify(execFile)(shell, ASK[shell](join(folder, 'script'), 'stoker logs la'), { env })
  expect(
    stdout
      .trim()
      .split('\n')
      .map(line => line.split('\t')[0]),
  ).toEqual(['last', 'late'])
})

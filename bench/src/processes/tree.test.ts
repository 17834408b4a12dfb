import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findProgram } from './find-program.ts'
import { stopAllChildren } from './living.ts'
import { runCommand } from './run-command.ts'
import { startTree } from './tree.ts'

const PATH = '/usr/local/bin:/usr/bin:/bin'
const python = findProgram('python3', PATH)
const ORPHANS = 'setsid sh -c "trap : TERM; while :; do sleep 60; done" & echo "ready $!"'
const inShell = (script: string) =>
  startTree(python ?? '', { name: 'the tree', command: '/bin/sh', args: ['-c', script], ready: /^ready/ })

describe.skipIf(python === null)('a tree (skipped without python3)', () => {
  it('outlives the command that planted it, and takes its orphans along, deaf ones too', async () => {
    const tree = await inShell(ORPHANS)
    const orphan = Number(tree.readyLine.split(' ')[1])
    expect(existsSync(`/proc/${orphan}`)).toBe(true)
    await tree.stop()
    await expect.poll(() => existsSync(`/proc/${orphan}`)).toBe(false)
    await expect.poll(() => existsSync(`/proc/${tree.pid}`)).toBe(false)
  })

  it('whose command fails fails with its code and last words', async () => {
    await expect(inShell('echo no room; exit 3')).rejects.toThrow('the tree should serve, it ended with 3: no room')
  })
})

describe('a command', () => {
  it('answers what it printed, in the environment it was given', async () => {
    expect(await runCommand('/bin/sh', ['-c', 'echo "$HELLO"'], { HELLO: 'there' })).toBe('there\n')
  })

  it('that fails says what it complained about', async () => {
    await expect(runCommand('/bin/sh', ['-c', 'echo no queue >&2; exit 1'], {})).rejects.toThrow(
      '/bin/sh failed: no queue',
    )
    await expect(runCommand('/does/not/exist', [], {})).rejects.toThrow('ENOENT')
  })

  it('that never ends is ended with all others', async () => {
    const failure = runCommand('/bin/sleep', ['600'], {}).catch((error: Error) => error.message)
    await stopAllChildren()
    expect(await failure).toContain('/bin/sleep failed')
  })
})

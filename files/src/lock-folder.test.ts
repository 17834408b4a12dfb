import { mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { FolderLocked, lockFolder } from './lock-folder.ts'
import { bootId, processStart } from './process-identity.ts'
import { compileProgram, runProgram } from './test-program.ts'

/** Takes the folder once when told to, says how that went, and holds it until its input ends. */
const TAKE_ONCE = `
import { once } from 'node:events'
import { lockFolder } from './lock-folder.ts'
const [folder = ''] = process.argv.slice(2)
process.stdout.write('ready\\n')
await once(process.stdin, 'data')
const lock = await lockFolder(folder).catch(error => ({ error }))
process.stdout.write('error' in lock ? 'refused ' + lock.error.name + ' ' + lock.error.pid + '\\n' : 'owns\\n')
await once(process.stdin.resume(), 'end')
if ('release' in lock) await lock.release()
`

/** Tries until it owned the folder, proves nobody else was inside, then releases or dies holding it. */
const TAKE_UNTIL_OWNED = `
import { rmSync, writeFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { FolderLocked, lockFolder } from './lock-folder.ts'
const [folder = '', ending = ''] = process.argv.slice(2)
for (let rounds = Number(process.argv[4]); rounds > 0; ) {
  const lock = await lockFolder(folder).catch(error => {
    if (error instanceof FolderLocked) return null
    throw error
  })
  if (lock === null) continue
  writeFileSync(folder + '/inside', '', { flag: 'wx' })
  await setImmediate()
  rmSync(folder + '/inside')
  rounds -= 1
  if (rounds === 0 && ending === 'die') process.kill(process.pid, 'SIGKILL')
  await lock.release()
}
`

let programs = ''
let takeOnce = ''
let takeUntilOwned = ''
let folder = ''
const started: ReturnType<typeof runProgram>[] = []

beforeAll(async () => {
  programs = await mkdtemp(join(tmpdir(), 'stoker-lock-programs-'))
  await mkdir(join(programs, 'once'))
  await mkdir(join(programs, 'until'))
  takeOnce = await compileProgram(join(programs, 'once'), TAKE_ONCE)
  takeUntilOwned = await compileProgram(join(programs, 'until'), TAKE_UNTIL_OWNED)
})

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-lock-'))
})

afterEach(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  const pids = started.map(({ child }) => child.pid ?? 0)
  await Promise.all(started.splice(0).map(({ ended }) => ended))
  expect(await Promise.all(pids.map(pid => processStart(pid)))).toEqual(pids.map(() => null))
  await rm(folder, { recursive: true })
})

afterAll(() => rm(programs, { recursive: true }))

function start(program: string, ...args: readonly string[]) {
  const run = runProgram(program, [folder, ...args])
  started.push(run)
  return run
}

async function ownerIn(): Promise<ReturnType<typeof runProgram>> {
  const owner = start(takeOnce)
  owner.child.stdin.write('go')
  await owner.said('owns')
  return owner
}

test('a second taker in the same process is refused until the first releases', async () => {
  const lock = await lockFolder(folder)
  await expect(lockFolder(folder)).rejects.toThrow(FolderLocked)
  await lock.release()
  await (await lockFolder(folder)).release()
  expect(await readdir(folder)).toEqual([])
})

test('the refusal names the folder, the owning process and since when it owns', async () => {
  const before = new Date().toISOString()
  const owner = await ownerIn()
  const refusal = await lockFolder(folder).catch(error => error)
  expect(refusal).toMatchObject({ folder, pid: owner.child.pid })
  expect(refusal.since >= before && refusal.since <= new Date().toISOString()).toBe(true)
  expect(refusal.message).toContain(`process ${owner.child.pid} has owned it since ${refusal.since}`)
})

test('releasing twice does not take the lock from the next owner', async () => {
  const first = await lockFolder(folder)
  await first.release()
  const second = await lockFolder(folder)
  await first.release()
  await expect(lockFolder(folder)).rejects.toThrow(FolderLocked)
  await second.release()
})

test('the lock of an owner ended by SIGKILL is taken over', async () => {
  const owner = await ownerIn()
  owner.child.kill('SIGKILL')
  await owner.ended
  expect(await readdir(folder)).toEqual(['lock'])
  const lock = await lockFolder(folder)
  expect(await readdir(folder)).toEqual(['lock'])
  await lock.release()
  expect(await readdir(folder)).toEqual([])
})

test.each([
  ['a pid that now belongs to another process', async () => `a,${process.pid},1,${await bootId()},then`],
  ['a running pid from before the machine started again', async () => `a,${process.pid},${await ownStart()},old,then`],
])('a lock with %s is taken over', async (_, target) => {
  await symlink(await target(), join(folder, 'lock'))
  const lock = await lockFolder(folder)
  expect(await readlink(join(folder, 'lock'))).not.toMatch(/^a,/)
  await lock.release()
})

test('takers that died between claiming and finishing a takeover leave a chain that the next one clears', async () => {
  await symlink('a,1,0,old,then', join(folder, 'lock'))
  await symlink('b,1,0,old,then', join(folder, 'lock.a'))
  await symlink('c,1,0,old,then', join(folder, 'lock.b'))
  const lock = await lockFolder(folder)
  expect(await readdir(folder)).toEqual(['lock'])
  await lock.release()
})

test('a live owner at the end of an unfinished takeover is respected', async () => {
  await symlink('a,1,0,old,then', join(folder, 'lock'))
  await symlink(`b,${process.pid},${await ownStart()},${await bootId()},then`, join(folder, 'lock.a'))
  await expect(lockFolder(folder)).rejects.toThrow(`process ${process.pid} has owned it since then`)
})

test('something else under the name of the lock is never replaced', async () => {
  await writeFile(join(folder, 'lock'), 'mine')
  await expect(lockFolder(folder)).rejects.toThrow('should be a lock, it is something else')
  expect(await readdir(folder)).toEqual(['lock'])
})

test('of 20 processes that find a dead owner at once, one wins and the others are told its pid', async () => {
  await symlink(`a,${process.pid},1,${await bootId()},then`, join(folder, 'lock'))
  const takers = Array.from({ length: 20 }, () => start(takeOnce))
  await Promise.all(takers.map(taker => taker.said('ready')))
  for (const taker of takers) taker.child.stdin.write('go')
  const outputs = await Promise.all(takers.map(taker => Promise.race([taker.said('owns'), taker.said('refused')])))
  const winners = takers.filter((_, index) => outputs[index]?.includes('owns'))
  expect(winners).toHaveLength(1)
  const refusals = outputs.filter(output => output.includes(`refused FolderLocked ${winners[0]?.child.pid}\n`))
  expect(refusals).toHaveLength(19)
  for (const taker of takers) taker.child.stdin.end()
  await Promise.all(takers.map(taker => taker.ended))
  expect(await readdir(folder)).toEqual([])
})

test('20 processes that take, release and die holding the folder are never inside together', async () => {
  const takers = Array.from({ length: 20 }, (_, index) => start(takeUntilOwned, index % 2 ? 'die' : 'release', '5'))
  const ends = await Promise.all(takers.map(taker => taker.ended))
  expect(ends.filter(end => end.signal === 'SIGKILL')).toHaveLength(10)
  expect(ends.filter(end => end.code === 0)).toHaveLength(10)
  await (await lockFolder(folder)).release()
  expect(await readdir(folder)).toEqual([])
})

async function ownStart(): Promise<string> {
  return (await processStart(process.pid)) ?? ''
}

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar, sha256 } from '@stoker/files'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { joinScript, refusalScript } from './join-script.ts'
import { openTestHub } from './test-hub.ts'

/** Stands where the real program would be and tells what it was started with. */
const STAND_IN = `console.log(JSON.stringify({ args: process.argv.slice(2), home: process.env.STOKER_HOME, join: process.env.STOKER_JOIN }))`
const bytes = gzipSync(packTar([{ name: 'stoker.js', bytes: Buffer.from(STAND_IN) }]))
const bundle = { bytes, sha256: sha256(bytes) }

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "stoker join's "))
})
afterEach(() => rm(home, { recursive: true, force: true }))

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Pipes a script into dash, as the pasted line does. */
async function pipe(script: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Ran> {
  const child = spawn('/bin/dash', ['-s', '--', ...args], {
    env: { PATH: process.env.PATH ?? '', HOME: home, STOKER_HOME: join(home, 'st'), ...env },
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', text => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  child.stdin.on('error', () => {})
  child.stdin.end(script)
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

test('the script of a token installs the worker, starts it with token and hub, and does so again', async () => {
  const hub = await openTestHub({ workerBundle: async () => bundle })
  try {
    const token = await hub.token('join', 'ann')
    const { status, text, type } = await hub.call('GET', `/join/${token}`, { token: null })
    expect({ status, type }).toEqual({ status: 200, type: 'text/x-shellscript; charset=utf-8' })
    for (let round = 0; round < 2; round += 1) {
      const ran = await pipe(text, ['--name', "ann's box", '--tag', '$(x)'])
      expect(ran, ran.stderr).toMatchObject({ code: 0 })
      expect(JSON.parse(ran.stdout)).toEqual({
        args: ['worker', '--hub', hub.url, '--name', "ann's box", '--tag', '$(x)'],
        home: join(home, 'st'),
        join: token,
      })
    }
    expect((await readdir(join(home, 'st'))).sort()).toEqual(['app', 'bin'])
    expect(await readdir(join(home, 'st', 'app'))).toEqual([bundle.sha256])
    const again = spawnSync(join(home, 'st', 'bin', 'stoker-worker'), ['--max-jobs', '3'], { encoding: 'utf8' })
    expect(JSON.parse(again.stdout).args.slice(-2)).toEqual(['--max-jobs', '3'])
    const installed = await pipe(text, ['--install', '--name', 'b'])
    expect(JSON.parse(installed.stdout).args).toEqual(['worker', 'install', '--hub', hub.url, '--name', 'b'])
  } finally {
    await hub.close()
  }
})

test('what may not join gets a script that says why, and no bundle', async () => {
  const hub = await openTestHub({ workerBundle: async () => bundle })
  const unbuilt = await openTestHub()
  try {
    const expired = await hub.token('join', 'ann', Date.now() - 1)
    const submit = await hub.token('submit', 'ann')
    for (const [token, why] of [
      [expired, 'the join token expired at'],
      [submit, 'knows no such join token'],
      ["x'; touch hacked; '", 'knows no such join token'],
    ] as const) {
      const path = `/join/${encodeURIComponent(token)}`
      const { status, text } = await hub.call('GET', path, { token: null })
      expect(status).toBe(401)
      expect(await pipe(text)).toMatchObject({ code: 1, stderr: expect.stringContaining(why), stdout: '' })
      expect((await hub.call('GET', `${path}/worker.tgz`, { token: null })).json).toMatchObject({
        code: 'auth.invalid',
      })
    }
    const valid = await unbuilt.token('join', 'ann')
    const none = await unbuilt.call('GET', `/join/${valid}`, { token: null })
    expect(none).toMatchObject({ status: 503, text: expect.stringContaining('runs from its sources') })
    expect(await readdir(home)).toEqual([])
  } finally {
    await hub.close()
    await unbuilt.close()
  }
})

test('a Host header that is none cannot put a word into the script', async () => {
  const hub = await openTestHub({ workerBundle: async () => bundle })
  try {
    const token = await hub.token('join', 'ann')
    for (const host of ["a'; touch hacked; '", 'a b', '$(x)', 'a/b', '[::1']) {
      const reply = await hub.api.inject({ method: 'GET', url: `/join/${token}`, headers: { host } })
      expect(reply.statusCode, host).toBe(400)
      expect(reply.body).not.toContain('touch')
    }
  } finally {
    await hub.close()
  }
})

const FACTS = { url: 'http://127.0.0.1:9', pin: null, token: 'stk_x', usedBy: null, sha256: bundle.sha256 }

test('a script that was cut off on its way does nothing at all', async () => {
  const whole = joinScript(FACTS)
  const cuts = [
    ...Array.from({ length: 30 }, (_, i) => Math.floor((whole.length * i) / 30)),
    ...Array.from({ length: 24 }, (_, i) => whole.length - 2 - i),
  ]
  for (const at of cuts) await pipe(whole.slice(0, at))
  expect(await readdir(home)).toEqual([])
})

test('wrong bytes and half of the bytes are not installed', async () => {
  const answers = [
    { head: bytes.length, body: Buffer.concat([bytes.subarray(0, -1), Buffer.from('x')]), why: 'what came has' },
    { head: bytes.length, body: bytes.subarray(0, 50), why: 'could not be fetched' },
  ]
  for (const { head, body, why } of answers) {
    const server = createServer((_, reply) => {
      reply.writeHead(200, { 'content-length': head })
      reply.write(body, () => reply.destroy())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ran = await pipe(joinScript({ ...FACTS, url }))
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining(why) })
    expect(await readdir(join(home, 'st', 'app'))).toEqual([])
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
})

test('a machine that lacks something is told what to install; a used line, whose it was', async () => {
  const tools = join(home, 'tools')
  const ran = await pipe(joinScript(FACTS), [], { PATH: tools })
  expect(ran).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Node 20.15 or newer is needed, none was found'),
  })
  const used = await pipe(joinScript({ ...FACTS, usedBy: 'w-1' }))
  expect(used).toMatchObject({ code: 1, stderr: expect.stringContaining('used by worker w-1 already') })
  expect(await readdir(home)).toEqual([])
})

test('refusals are quoted', async () => {
  expect(await pipe(refusalScript("it's $(touch x) `y` %s"))).toEqual({
    code: 1,
    stdout: '',
    stderr: "stoker: it's $(touch x) `y` %s\n",
  })
})

test('dash and bash both read the script, and the whole of it is a function and its call', () => {
  const text = joinScript(FACTS)
  for (const shell of ['dash', 'bash']) expect(spawnSync(shell, ['-n'], { input: text }).stderr.toString()).toBe('')
  expect(text.trimEnd().split('\n').at(-1)).toBe('{ stoker_join "$@"; }')
})

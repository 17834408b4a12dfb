import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { reply } from '../../../client/src/test-hub.ts'
import { systemdRuns } from '../service/systemctl.ts'
import { useTestHub } from '../test-terminal.ts'

const { hub, stoker, home } = useTestHub()
const PIN = `sha256/${'A'.repeat(43)}=`
const NOW = '2026-01-01T00:00:00.000Z'
const token = { id: 't-1', role: 'join', owner: 'ann', label: '', createdAt: NOW, expiresAt: NOW, usedBy: null }
const secure = { pin: PIN, selfSigned: true, remembered: true, error: null }
const wide = { ...secure, name: '0.0.0.0:7443', url: 'https://0.0.0.0:7443' }

function listens(listeners: readonly object[], addresses = ['10.0.0.5', '192.168.1.5', 'fd00::5']): void {
  hub().on('GET /api/v1/listeners', (_, response) => reply(response, 200, { listeners, addresses }))
}

const asked = () =>
  hub()
    .seen.filter(one => one.method === 'POST')
    .map(one => [one.path, JSON.parse(one.body)])

beforeEach(() => {
  listens([])
  hub().on('POST /api/v1/listeners', (_, response) => reply(response, 201, wide))
  hub().on('POST /api/v1/tokens', (_, response) => reply(response, 201, { ...token, secret: 'stk_secret' }))
})

test('the line names the first address of the hub, tells the others, and lives for an hour', async () => {
  listens([wide])
  const ran = await stoker(['join'])
  expect(ran.stdout).toBe(
    `curl -sSk --pinnedpubkey 'sha256//${'A'.repeat(43)}=' 'https://10.0.0.5:7443/join/stk_secret' | sh\n`,
  )
  expect(ran.stderr).toContain('within 1 h')
  expect(ran.stderr).toContain('also at 192.168.1.5; choose with --host')
  expect(asked()).toEqual([['/api/v1/tokens', { role: 'join', label: 'stoker join', expiresInSeconds: 3600 }]])
  const v6 = await stoker(['join', '--host', 'fd00::5', '--install', '-q'])
  expect(v6.stdout).toBe('https://[fd00::5]:7443/join/stk_secret\n')
})

test('a certificate that an authority vouches for needs no pin, a listener on one address no choice', async () => {
  listens([{ ...secure, selfSigned: false, name: 'hub.lab:443', url: 'https://hub.lab:443' }])
  expect((await stoker(['join'])).stdout).toBe("curl -sS 'https://hub.lab/join/stk_secret' | sh\n")
})

test('a hub without TLS is opened when its admin agrees, never silently', async () => {
  const alone = await stoker(['join', '--json'])
  expect(alone.code).toBe(1)
  expect(JSON.parse(alone.stdout).error.code).toBe('join.no_listener')
  expect((await stoker(['join'], { columns: 80, answer: 'no' })).code).toBe(1)
  expect(asked()).toEqual([])
  expect((await stoker(['join'], { columns: 80, answer: 'y' })).stdout).toContain('/join/stk_secret')
  expect((await stoker(['join', '--yes', '--listen', 'https://10.0.0.5:9'])).code).toBe(0)
  const opened = asked().filter(([path]) => path === '/api/v1/listeners')
  expect(opened.map(([, body]) => body.url)).toEqual(['https://0.0.0.0:7443', 'https://10.0.0.5:9'])
})

test('what cannot be an address is refused, and so is a hub that has none', async () => {
  listens([wide], [])
  expect(await stoker(['join', '--host', "a'b"])).toMatchObject({ code: 2 })
  expect(await stoker(['join'])).toMatchObject({ code: 1, stderr: expect.stringContaining('stoker join --host NAME') })
})

test('contexts and commands keep to what TLS words mean', async () => {
  const add = (...more: string[]) => stoker(['context', 'add', 'x', '--token-file', '/dev/null', ...more])
  expect(await add('--url', hub().url, '--pin', PIN)).toMatchObject({ code: 2, stderr: expect.stringMatching(/https/) })
  expect(await add('--url', 'https://h:1', '--pin', 'x')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/sha256/),
  })
  const env = { STOKER_URL: 'https://127.0.0.1:9', STOKER_PIN: PIN }
  expect((await stoker(['list'], { env })).code).toBe(8)
})

test('a service is printed as it would be, and without systemd nothing is written or started', async () => {
  const programs = join(home(), 'programs')
  await mkdir(programs)
  await writeFile(join(programs, 'worker.js'), '')
  const words = ['worker', 'install', '--hub', 'https://10.0.0.5:7443', '--pin', PIN, '--name', 'box']
  const env = { XDG_CONFIG_HOME: join(home(), 'config'), STOKER_JOIN: 'stk_one_time' }
  const printed = await stoker([...words, '--print', '--user'], { programs, env })
  expect(printed.stdout).toContain(`worker.js --hub https://10.0.0.5:7443 --data ${join(home(), 'worker')} --name box`)
  expect(printed.stdout).toContain(`--pin ${PIN}`)
  expect(printed.stdout).not.toContain('stk_one_time')
  expect(JSON.parse((await stoker([...words, '--print', '--json'], { programs, env })).stdout)).toMatchObject({
    unit: 'stoker-worker.service',
    file: '/etc/systemd/system/stoker-worker.service',
    started: false,
  })
  if (systemdRuns()) return
  const tried = await stoker([...words, '--user'], { programs, env })
  expect(tried).toMatchObject({ code: 1, stderr: expect.stringContaining('systemd does not run on this machine') })
  expect(tried.stdout).toContain('KillMode=process')
  expect(await stoker(['worker', 'uninstall', '--user'], { programs, env })).toMatchObject({ code: 1 })
  expect(await readdir(home())).toEqual(['programs'])
})

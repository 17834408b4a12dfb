import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildSync } from 'esbuild'

/** A hub process as `up` sees it: says that it is ready, keeps an admin token, makes join tokens, shows its worker, runs one job. */
const HUB = `
import { mkdirSync, writeFileSync, appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { asJob, openStream, reply, sse, startTestHub, TEST_TOKEN } from '../../../client/src/test-hub.ts'
const { values } = parseArgs({ allowPositionals: true, options: { data: { type: 'string' }, host: { type: 'string' }, port: { type: 'string' }, policy: { type: 'string' }, presets: { type: 'string' }, supervised: { type: 'boolean' } } })
mkdirSync(values.data, { recursive: true })
const say = text => appendFileSync(values.data + '/story', text + '\\n')
const hub = await startTestHub(Number(values.port))
const at = '2026-01-01T00:00:00.000Z'
const worker = {
  id: 'w-1', name: 'box', state: 'ready', version: '1', tags: [], maxJobs: 4, running: 0, cpus: { total: 2, claimed: 0 },
  memoryBytes: { total: 8e9, claimed: 0 }, gpus: { total: 0, claimed: 0 }, simulated: false, registeredAt: at, lastSeenAt: at,
  hardware: { cpuModel: 'c', cores: 2, memoryBytes: 8e9, disk: { freeBytes: 1, totalBytes: 2 }, hostname: 'box', os: 'l', arch: 'x', pythons: [], gpus: [], gpuNote: null },
  abilities: { executors: ['inline', 'process'], sandbox: false, unsandboxed: true, internet: false, hostNetwork: false, note: null },
  samples: [], attempts: [],
}
hub.on('POST /api/v1/tokens', (request, response) => {
  say('join token made')
  reply(response, 201, { id: 't', role: 'join', owner: 'admin', label: '', createdAt: at, expiresAt: null, usedBy: null, secret: 'stk_join' })
})
hub.on('GET /api/v1/workers/:id', (_, response) => reply(response, 200, worker))
hub.on('GET /health', (_, response) => reply(response, 200, { status: 'ok', version: '1', epoch: 1, startedAt: at, workers: { connected: 1, total: 1 } }))
hub.on('GET /api/v1/jobs/:id/events', (_, response, id) => {
  const job = hub.jobs.get(id)
  openStream(response)
  response.end(sse('logs', { attempt: 1, stream: 'stdout', log: 'hello from box' }) + sse('end', { ...asJob(job), state: 'succeeded' }))
})
writeFileSync(values.data + '/admin-token', TEST_TOKEN + '\\n')
writeFileSync(values.data + '/pid', String(process.pid))
appendFileSync(values.data + '/ports', new URL(hub.url).port + '\\n')
say('hub started')
process.on('SIGTERM', () => { say('hub stopped'); process.exit(0) })
console.log(JSON.stringify({ ready: true, url: hub.url, epoch: 1 }))
`

const WORKER = `
import { mkdirSync, writeFileSync, appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
const { values } = parseArgs({ strict: false, options: { data: { type: 'string' }, hub: { type: 'string' } } })
mkdirSync(values.data, { recursive: true })
const say = text => appendFileSync(values.data + '/../hub/story', text + '\\n')
writeFileSync(values.data + '/pid', String(process.pid))
say('worker started ' + (process.env.STOKER_JOIN ?? 'without token') + ' ' + process.argv.includes('--allow-unsandboxed'))
setInterval(() => {}, 1000)
process.on('SIGTERM', () => { say('worker stopped'); process.exit(0) })
console.log(JSON.stringify({ ready: true, workerId: 'w-1', name: 'box' }))
`

/** Compiles stand-ins for hub.js and worker.js into a folder: real processes that speak the same contract with the supervisor. */
export async function compileStandIns(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  for (const [name, contents] of Object.entries({ 'hub.js': HUB, 'worker.js': WORKER })) {
    const { outputFiles } = buildSync({
      stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
      target: 'node20',
    })
    await writeFile(join(folder, name), outputFiles[0]?.contents ?? '')
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  return folder
}

/** The stand-ins of a home folder that still run. */
export async function leftOvers(home: string): Promise<string[]> {
  const left: string[] = []
  for (const name of ['hub', 'worker']) {
    const pid = Number(await readFile(join(home, name, 'pid'), 'utf8').catch(() => 0))
    if (pid > 0 && isAlive(pid)) left.push(name)
  }
  return left
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

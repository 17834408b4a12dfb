import { type Client, createClient, type Health, HubRefused } from '@stoker/client'
import type { Finding, Worker } from '@stoker/protocol'
import { chooseHub } from '../connect.ts'
import { Failure } from '../failure.ts'
import type { Io } from '../io.ts'
import { clockFinding } from './clock.ts'
import { ok } from './findings.ts'

/** Whether the chosen hub answers, what it thinks of the token, and whether clocks and versions agree. */
export async function hubFindings(io: Io, context: string | undefined): Promise<Finding[]> {
  const hub = await chooseHub(io, context).catch((error: unknown) => {
    if (error instanceof Failure) return error
    throw error
  })
  if (hub instanceof Failure)
    return [{ check: 'hub', level: 'warn', text: hub.message, todo: hub.details[0] ?? 'stoker context list' }]
  const client = createClient({ url: hub.url, token: hub.token ?? undefined })
  try {
    return await look(client, io)
  } finally {
    client.close()
  }
}

async function look(client: Client, io: Io): Promise<Finding[]> {
  // The first answer pays for the connection; the second is what every other call will take.
  const first = await client.clock().catch((error: unknown) => error)
  if (first instanceof Error)
    return [
      {
        check: 'hub',
        level: 'bad',
        text: first.message,
        todo: 'start it, or correct its address: stoker context list',
      },
    ]
  const startedAt = io.now()
  const { health, date } = await client.clock()
  const tookMs = io.now() - startedAt
  return [
    ok('hub', `${client.url} answers in ${tookMs} ms, up since ${health.startedAt}`),
    safetyFinding(client.url),
    versionFinding(io.version, health),
    clockFinding(date, startedAt, tookMs),
    ...(await tokenFindings(client, health)),
  ]
}

function safetyFinding(url: string): Finding {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'https:') return ok('tls', 'the connection is encrypted')
  if (/^(localhost|127\..*|\[::1\])$/.test(hostname))
    return ok('tls', 'the hub is on this machine: no encryption needed')
  const todo = 'put the hub behind TLS or a tunnel'
  return { check: 'tls', level: 'warn', text: `tokens travel to ${hostname} unencrypted`, todo }
}

function versionFinding(mine: string, { version }: Health): Finding {
  if (mine === version) return ok('version', `this program and the hub are both ${version}`)
  const text = `this program is ${mine}, the hub is ${version}`
  return { check: 'version', level: 'warn', text, todo: 'install the same version on both' }
}

async function tokenFindings(client: Client, health: Health): Promise<Finding[]> {
  try {
    const { owner, role } = await client.me()
    const workers = await client.workers()
    return [ok('token', `you are ${owner} with role ${role}`), ...workerFindings(workers, health)]
  } catch (error) {
    if (!(error instanceof HubRefused)) throw error
    const todo = 'get one from an admin: stoker token create, then: stoker context add NAME --url URL'
    return [{ check: 'token', level: 'bad', text: error.message, todo }]
  }
}

function workerFindings(workers: readonly Worker[], { version }: Health): Finding[] {
  const ready = workers.filter(worker => worker.state !== 'away')
  const other = ready.filter(worker => worker.version !== version).map(worker => `${worker.name} (${worker.version})`)
  const count: Finding =
    ready.length > 0
      ? ok('workers', `${ready.length} of ${workers.length} workers are connected`)
      : { check: 'workers', level: 'warn', text: 'no worker is connected: jobs wait', todo: 'start one: stoker worker' }
  if (other.length === 0) return [count]
  const text = `the hub is ${version}, other versions run on ${other.slice(0, 5).join(', ')}`
  return [count, { check: 'worker versions', level: 'warn', text, todo: 'upgrade them one after the other' }]
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Job,
  type JobDetail,
  type JobSpec,
  type JobSpecInput,
  type ProblemCode,
  parseJobSpec,
  Refused,
  toProblem,
} from '@stoker/protocol'

export interface SeenRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: string
}
type Answer = (request: SeenRequest, response: ServerResponse, id: string) => unknown

const EPOCH = '2026-01-01T00:00:00.000Z'
export const TEST_TOKEN = 'stk_test'

/** A small hub that speaks the contract over real HTTP; a test may replace the answer of any route. */
export async function startTestHub(wantedPort = 0) {
  const seen: SeenRequest[] = []
  const jobs = new Map<string, JobDetail>()
  const byKey = new Map<string, { readonly body: string; readonly answer: unknown }>()
  const routes = new Map<string, Answer>()
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>(resolve => server.listen(wantedPort, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://hub')
    let body = ''
    for await (const part of request.setEncoding('utf8')) body += part
    const { method = 'GET', headers } = request
    const at = { method, path: url.pathname, query: url.searchParams, headers, body }
    seen.push(at)
    try {
      if (headers.authorization !== `Bearer ${TEST_TOKEN}` && at.path !== '/health')
        throw new Refused(headers.authorization ? 'auth.invalid' : 'auth.missing', 'the token is not known here')
      const { answer, id } = route(method, at.path)
      await answer(at, response, id)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      refuse(response, error.code, error.message, error.errors)
    }
  }

  function route(method: string, path: string): { answer: Answer; id: string } {
    for (const [pattern, answer] of routes) {
      const match = new RegExp(`^${pattern.replace(':id', '([^/]+)')}$`).exec(`${method} ${path}`)
      if (match) return { answer, id: decodeURIComponent(match[1] ?? '') }
    }
    throw new Refused('route.not_found', `no route ${method} ${path}`)
  }

  function find(id: string): JobDetail {
    const job = [...jobs.values()].find(one => one.id === id || (id.length >= 4 && one.id.endsWith(id)))
    if (job === undefined) throw new Refused('job.not_found', `no job ${id}`)
    return job
  }

  function submit(request: SeenRequest, response: ServerResponse): void {
    const key = String(request.headers['idempotency-key'])
    const known = byKey.get(key)
    if (known !== undefined && known.body !== request.body) throw new Refused('idempotency.conflict', 'another body')
    const answer = known?.answer ?? accept(JSON.parse(request.body), request.query.get('failFast') === 'true')
    byKey.set(key, { body: request.body, answer })
    reply(response, 201, answer)
  }

  function accept(body: unknown, failFast: boolean) {
    const list = (body as { jobs?: JobSpecInput[] }).jobs
    const parsed = (list ?? [body]).map(parseJobSpec)
    const errors = parsed.flatMap((one, index) =>
      one.ok ? [] : one.issues.map(i => ({ ...i, path: list === undefined ? i.path : `jobs[${index}].${i.path}` })),
    )
    if (errors.length > 0) throw new Refused('spec.invalid', `${errors.length} things are wrong`, errors)
    const specs = parsed.flatMap(one => (one.ok ? [one.spec] : []))
    if (failFast && specs.some(spec => spec.resources.gpus > 0))
      throw new Refused('job.unschedulable', 'needs 1 GPU, largest worker has 0')
    return {
      jobs: specs.map(spec => {
        const job = aJob({ spec, name: spec.name, type: spec.type, labels: spec.labels })
        jobs.set(job.id, job)
        return { id: job.id, unschedulable: spec.resources.gpus > 0 ? 'needs 1 GPU, largest worker has 0' : null }
      }),
    }
  }

  const health = { status: 'ok', version: '0.0.0-test', epoch: 1, startedAt: EPOCH }
  routes.set('GET /health', (_, response) => reply(response, 200, { ...health, workers: { connected: 0, total: 0 } }))
  routes.set('POST /api/v1/jobs', submit)
  routes.set('GET /api/v1/jobs', (_, response) =>
    reply(response, 200, { jobs: [...jobs.values()].reverse().map(asJob), next: null }),
  )
  routes.set('GET /api/v1/jobs/:id', (_, response, id) => reply(response, 200, find(id)))
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    jobs,
    answerOf: (pattern: string): Answer => routes.get(pattern) ?? (() => {}),
    on: (pattern: string, answer: Answer) => void routes.set(pattern, answer),
    connections: () =>
      new Promise<number>((resolve, reject) => server.getConnections((e, n) => (e ? reject(e) : resolve(n)))),
    async close(): Promise<void> {
      const closed = new Promise(resolve => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

let made = 0

/** A job as the hub shows it, queued unless told otherwise. */
export function aJob(of: Partial<JobDetail> = {}): JobDetail {
  made += 1
  const id = `01890000-0000-7000-8000-${made.toString(16).padStart(12, '0')}`
  const spec = of.spec ?? specOf({ command: ['true'] })
  return {
    id,
    name: 'true',
    type: 'command',
    state: 'queued',
    owner: 'admin',
    priority: 0,
    labels: {},
    submittedAt: EPOCH,
    startedAt: null,
    endedAt: null,
    reason: null,
    unschedulable: null,
    waitingFor: null,
    cancelRequested: false,
    attempts: 0,
    failures: 0,
    lost: 0,
    worker: null,
    exitCode: null,
    signal: null,
    progress: null,
    retryOf: null,
    group: null,
    result: null,
    history: [],
    ...of,
    spec,
  }
}

/** The part of a job that lists and events show. */
export function asJob({ spec: _, result: __, history: ___, ...job }: JobDetail): Job {
  return job
}

export function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(body === undefined ? '' : JSON.stringify(body))
}

export function refuse(
  response: ServerResponse,
  code: ProblemCode,
  detail: string,
  errors: Refused['errors'] = [],
): void {
  const problem = toProblem(new Refused(code, detail, errors))
  response.writeHead(problem.status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem))
}

export function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
}

export function sse(event: string, data: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

function specOf(input: JobSpecInput): JobSpec {
  const parsed = parseJobSpec(input)
  if (!parsed.ok) throw new Error(`a test spec should be valid, found ${JSON.stringify(parsed.issues)}`)
  return parsed.spec
}

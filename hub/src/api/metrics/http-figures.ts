import type { FastifyReply, FastifyRequest } from 'fastify'
import { Counter, type Registry } from 'prom-client'
import { PlainHistogram } from './histogram.ts'

const SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10]

/** Answers of the API; a request only adds to plain numbers, labels are made when somebody asks. */
export class HttpFigures {
  readonly #counts = new Map<string, number>()
  readonly #answers: Counter
  readonly times = new PlainHistogram({
    name: 'stoker_http_response_seconds',
    help: 'From the head of a request to the end of its answer; streams are not counted',
    buckets: SECONDS,
  })

  constructor(registry: Registry) {
    this.#answers = new Counter({
      name: 'stoker_http_responses_total',
      help: 'Answers of the API by method, route and HTTP status',
      labelNames: ['method', 'route', 'status'],
      registers: [registry],
    })
  }

  take(request: FastifyRequest, reply: FastifyReply): void {
    const key = `${request.method} ${request.routeOptions.url ?? 'unknown'} ${reply.statusCode}`
    const isStream = STREAM.test(String(reply.getHeader('content-type')))
    this.answered(key, isStream ? null : reply.elapsedTime)
  }

  /** A key is method, route and status. */
  answered(key: string, ms: number | null): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
    if (ms !== null) this.times.observe(ms / 1000)
  }

  look(): void {
    for (const [key, n] of this.#counts) {
      const [method = '', route = '', status = ''] = key.split(' ')
      this.#answers.inc({ method, route, status }, n)
    }
    this.#counts.clear()
  }
}

const STREAM = /event-stream|octet-stream|text\/plain|x-tar/

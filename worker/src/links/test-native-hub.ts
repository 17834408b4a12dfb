import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import {
  decodeFrame,
  type Fence,
  fenceKey,
  type Offer,
  PROTOCOL,
  parseJobSpec,
  Report,
  WorkerMessage,
} from '@stoker/protocol'
import { type WebSocket, WebSocketServer } from 'ws'
import type { HubMood, StandInHub, ToldEnd } from './link-contract.ts'

interface Entry {
  readonly offer: Offer
  ends: ToldEnd[]
  heard: number
  output: { stdout: string; stderr: string }
  progress: number[]
}

/** A hub of our own protocol, reduced to what a worker hears of it: one epoch, offers, acknowledgements, stops. */
export class NativeHub implements StandInHub {
  readonly #jobs = new Map<string, Entry>()
  readonly #sockets = new Set<Socket>()
  #server: Server | null = null
  #worker: WebSocket | null = null
  #port = 0
  #mood: HubMood = 'well'
  #acked = 0
  #hasLeft = false

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get hasLeft(): boolean {
    return this.#hasLeft
  }

  async open(): Promise<void> {
    const server = createServer()
    const sockets = new WebSocketServer({ noServer: true })
    server.on('connection', socket => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    server.on('upgrade', (request, socket, head) => {
      if (this.#mood === 'slow') return
      if (this.#mood === 'broken') socket.end('HTTP/1.1 500 Internal Server Error\r\n\r\n')
      else sockets.handleUpgrade(request, socket, head, worker => this.#welcome(worker))
    })
    await new Promise<void>(resolve => server.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  async close(): Promise<void> {
    const server = this.#server
    this.#server = null
    for (const socket of this.#sockets) socket.destroy()
    if (server !== null) await new Promise(resolve => server.close(resolve))
  }

  async mood(mood: HubMood): Promise<void> {
    this.#mood = mood
    for (const socket of this.#sockets) socket.destroy()
    if (mood === 'away') await this.close()
    else if (this.#server === null) await this.open()
  }

  offer(id: string, script: string): void {
    const parsed = parseJobSpec({ type: 'custom_script', input: { script } })
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
    const fence = { job: this.#jobs.size + 1, epoch: 1, attempt: 1 }
    const offer = { fence, id, spec: parsed.spec, gpus: [] }
    this.#jobs.set(id, { offer, ends: [], heard: 0, output: { stdout: '', stderr: '' }, progress: [] })
    this.#send({ t: 'offers', offers: [offer] })
  }

  offerAgain(id: string): void {
    this.#send({ t: 'offers', offers: [this.#entry(id).offer] })
  }

  cancel(id: string): boolean {
    this.#send({ t: 'stops', stops: [{ fence: this.#entry(id).offer.fence, cause: 'canceled', by: 'someone' }] })
    return true
  }

  ends(id: string): readonly ToldEnd[] {
    return this.#entry(id).ends
  }

  endsHeard(id: string): number {
    return this.#entry(id).heard
  }

  output(id: string): string {
    const { stdout, stderr } = this.#entry(id).output
    return stdout + stderr
  }

  progress(id: string): readonly number[] {
    return this.#entry(id).progress
  }

  #entry(id: string): Entry {
    const entry = this.#jobs.get(id)
    if (entry === undefined) throw new Error(`no job ${id}`)
    return entry
  }

  #of(fence: Fence): Entry | undefined {
    return [...this.#jobs.values()].find(({ offer }) => fenceKey(offer.fence) === fenceKey(fence))
  }

  #welcome(worker: WebSocket): void {
    worker.on('error', () => {})
    if (this.#mood === 'garbage') worker.send('{"t":"offers","offers":[{}]}')
    else worker.on('message', (data: Buffer, isBinary) => this.#hear(worker, data, isBinary))
  }

  #hear(worker: WebSocket, data: Buffer, isBinary: boolean): void {
    if (isBinary) this.#report(data)
    else this.#heed(worker, data)
  }

  #heed(worker: WebSocket, data: Buffer): void {
    const message = WorkerMessage.parse(JSON.parse(data.toString()))
    if (message.t === 'hello')
      this.#greet(
        worker,
        message.holding.map(({ fence }) => fenceKey(fence)),
      )
    else if (message.t === 'goodbye') this.#hasLeft = true
    else if (message.t === 'beat') this.#send({ t: 'ack', n: this.#acked })
    else if (message.t === 'live')
      for (const { fence, progress } of message.attempts)
        if (progress?.percent != null) this.#of(fence)?.progress.push(progress.percent)
  }

  /** What is held is not offered again; what was never heard of is. */
  #greet(worker: WebSocket, held: readonly string[]): void {
    this.#worker = worker
    this.#send({
      ...{ t: 'welcome', protocol: PROTOCOL, version: 'test', epoch: 1, ackedBatch: this.#acked, creditBytes: 1 << 20 },
      ...{ beatMs: 100, liveMs: 100, stale: [], draining: false },
    })
    const open = [...this.#jobs.values()].filter(
      ({ offer, ends }) => ends.length === 0 && !held.includes(fenceKey(offer.fence)),
    )
    if (open.length > 0) this.#send({ t: 'offers', offers: open.map(({ offer }) => offer) })
  }

  #report(data: Buffer): void {
    const { message, payload } = decodeFrame(data)
    const report = Report.parse(message)
    const isNew = report.n > this.#acked
    this.#acked = Math.max(this.#acked, report.n)
    let at = 0
    for (const { fence, stream, length } of report.chunks) {
      const text = Buffer.from(payload.subarray(at, at + length)).toString()
      at += length
      const entry = this.#of(fence)
      if (isNew && entry !== undefined) entry.output[stream] += text
    }
    for (const said of report.reports) {
      const entry = this.#of(said.fence)
      if (said.kind !== 'ended' || entry === undefined) continue
      entry.heard += 1
      if (isNew) entry.ends.push(endOf(said))
    }
    if (this.#mood === 'lossy') for (const socket of this.#sockets) socket.destroy()
    else this.#send({ t: 'ack', n: this.#acked })
  }

  #send(message: object): void {
    this.#worker?.send(JSON.stringify(message))
  }
}

function endOf({
  outcome,
  exitCode,
  error,
}: {
  outcome: string
  exitCode: number | null
  error: string | null
}): ToldEnd {
  const told =
    outcome === 'lost' ? 'interrupted' : outcome === 'completed' || outcome === 'canceled' ? outcome : 'failed'
  return { outcome: told, exitCode, error }
}

import { type ClientRequest, request } from 'node:http'
import { stampsIn } from './processes/stamped-program.ts'
import { fineWallClock } from './wall-clock.ts'

/** Many who watch one stream of events from this process; each notes how long a stamped line took to come to it. */
export class SseViewers {
  readonly #requests: ClientRequest[] = []
  readonly #now = fineWallClock()
  /** Of each line, in the order the viewers had it. */
  readonly #waits = new Map<number, number[]>()

  static async open(count: number, url: string, headers: Readonly<Record<string, string>> = {}): Promise<SseViewers> {
    const viewers = new SseViewers()
    await Promise.all(Array.from({ length: count }, () => viewers.#open(url, headers)))
    return viewers
  }

  /** The waits of all viewers for each line that reached so many of them. */
  linesOf(count: number): readonly (readonly number[])[] {
    return [...this.#waits.values()].filter(waits => waits.length === count)
  }

  close(): void {
    for (const one of this.#requests) one.destroy()
  }

  #open(url: string, headers: Readonly<Record<string, string>>): Promise<void> {
    return new Promise((resolve, reject) => {
      const sent = request(url, { headers, agent: false }, response => {
        if (response.statusCode !== 200) reject(new Error(`a viewer was answered ${response.statusCode}`))
        response.on('data', (chunk: Buffer) => {
          this.#hear(chunk)
          resolve()
        })
        response.on('error', () => {})
      })
      sent.on('error', reject)
      sent.end()
      this.#requests.push(sent)
    })
  }

  #hear(chunk: Buffer): void {
    if (!chunk.includes('stamp')) return
    const at = this.#now()
    for (const stamp of stampsIn(chunk.toString('latin1'))) {
      const waits = this.#waits.get(stamp)
      if (waits === undefined) this.#waits.set(stamp, [at - stamp])
      else waits.push(at - stamp)
    }
  }
}

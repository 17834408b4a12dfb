import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '@stoker/files'
import { type Backoff, retrying } from '@stoker/net'
import type { LinkEvents } from '../link.ts'
import { type Answer, isFine } from './hub-calls.ts'

/** Heartbeats without a good answer before it registers again. */
const MOST_FAILURES = 5

/** No way in is left, whatever one waits for. */
export class NoWayIn extends Error {}

export interface PresencePorts extends LinkEvents {
  readonly hub: string
  /** Rejects with NoWayIn when there is no use in trying again. */
  readonly register: () => Promise<void>
  readonly beat: () => Promise<Answer>
  readonly heartbeatMs: number
  readonly backoff: Backoff
  readonly random: () => number
  readonly log: Log
  readonly signal: AbortSignal
}

/**
 * Being known to a foreign hub. away: registering, with growing pauses, for ever. registered: beating, until the hub has
 * forgotten us (404) or gave no good answer for five beats. over: it refused us for good, or we were told to stop.
 */
export class Presence {
  readonly #ports: PresencePorts
  #isRegistered = false

  constructor(ports: PresencePorts) {
    this.#ports = ports
  }

  get isRegistered(): boolean {
    return this.#isRegistered
  }

  async keep(): Promise<void> {
    const { connection, ready, refused, log, signal } = this.#ports
    try {
      for (let times = 0; ; times += 1) {
        await this.#register()
        this.#isRegistered = true
        if (times > 0) log('info', 'registered at the hub again')
        connection(true)
        ready()
        await this.#keepBeating()
        this.#isRegistered = false
        connection(false)
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof NoWayIn)) throw error
      log('error', error.message)
      refused(error.message)
    }
  }

  #register(): Promise<void> {
    const { register, backoff, random, signal, log, hub } = this.#ports
    let said = ''
    const once = () =>
      register().catch((error: Error) => {
        const isNews = error.message !== said && !signal.aborted && !(error instanceof NoWayIn)
        if (isNews) log('warn', `not registered at ${hub} (${error.message}); jobs go on, trying again`)
        said = error.message
        throw error
      })
    return retrying(once, { ...backoff, random, signal, isTemporary: error => !(error instanceof NoWayIn) })
  }

  /** Resolves when it is time to register again. */
  async #keepBeating(): Promise<void> {
    const { beat, heartbeatMs, log, signal } = this.#ports
    for (let failures = 0; ; ) {
      const answer = await beat().catch(() => null)
      signal.throwIfAborted()
      if (answer?.status === 404) return log('warn', 'the hub does not know this worker any more')
      failures = answer !== null && isFine(answer.status) ? 0 : failures + 1
      if (failures === MOST_FAILURES) return log('warn', `${failures} heartbeats in a row had no good answer`)
      await sleep(heartbeatMs, undefined, { signal })
    }
  }
}

import { type Client, isHubAway } from '@stoker/client'
import { type Command, InvalidArgumentError } from 'commander'
import type { Io } from '../io.ts'
import { type OutputOptions, printerFor, type View } from '../output/printer.ts'
import { WatchScreen } from './watch-screen.ts'

const DEFAULT_SECONDS = 2
/** A burst of commits is one change to an eye. */
const SETTLE_MS = 200

export interface WatchOptions extends OutputOptions {
  readonly watch?: number | true | undefined
}

/** What is looked at again and again; `isOver` ends the watching, without it only the person does. */
interface Watched<T> {
  readonly take: () => Promise<T>
  readonly view: View<T>
  readonly isOver?: ((value: T) => boolean) | undefined
}

export function withWatch(command: Command): Command {
  return command.option(
    '-w, --watch [seconds]',
    'show it again when something changes, and at least this often (2)',
    secondsOf,
  )
}

/** Shows a value once or, asked to, as long as it changes: in place on a terminal, one snapshot per change on a pipe. */
export async function showOrWatch<T>(io: Io, client: Client, options: WatchOptions, of: Watched<T>): Promise<void> {
  const { watch } = options
  if (watch === undefined) return printerFor(io, options).show(await of.take(), of.view)
  const everyMs = (watch === true ? DEFAULT_SECONDS : watch) * 1000
  const leaving = new AbortController()
  const release = io.onStop(() => leaving.abort())
  const news = new News(client, everyMs, leaving.signal)
  const screen = new WatchScreen(io, options)
  try {
    let last = await of.take()
    for (;;) {
      screen.show(last, of.view)
      if (of.isOver?.(last) === true) break
      await news.next()
      if (leaving.signal.aborted) break
      last = await of.take().catch((error: unknown) => {
        if (!isHubAway(error)) throw error
        screen.note('the hub is away; this is what was known before')
        return last
      })
    }
    screen.close()
    if (of.isOver?.(last) === true) screen.showLast(last, of.view)
  } finally {
    screen.close()
    leaving.abort()
    release()
  }
}

/** Resolves when the hub's feed tells of a change, when the time is up, or when the person leaves. */
class News {
  readonly #everyMs: number
  readonly #signal: AbortSignal
  #wake = () => {}
  #isChanged = false

  constructor(client: Pick<Client, 'feed'>, everyMs: number, signal: AbortSignal) {
    this.#everyMs = everyMs
    this.#signal = signal
    signal.addEventListener('abort', () => this.#wake())
    // Without a feed the time alone decides.
    void this.#follow(client).catch(() => {})
  }

  next(): Promise<void> {
    return new Promise(resolve => {
      const done = () => {
        clearTimeout(timer)
        this.#isChanged = false
        resolve()
      }
      const timer = setTimeout(done, this.#isChanged ? SETTLE_MS : this.#everyMs)
      this.#wake = () => {
        if (this.#signal.aborted) return done()
        clearTimeout(timer)
        setTimeout(done, SETTLE_MS)
      }
      if (this.#signal.aborted) done()
    })
  }

  async #follow(client: Pick<Client, 'feed'>): Promise<void> {
    for await (const _ of client.feed({ signal: this.#signal })) {
      if (this.#isChanged) continue
      this.#isChanged = true
      this.#wake()
    }
  }
}

function secondsOf(text: string): number {
  const seconds = Number(text)
  if (!(seconds >= 0.5 && seconds <= 3600)) throw new InvalidArgumentError('It should be 0.5 to 3600 seconds.')
  return seconds
}

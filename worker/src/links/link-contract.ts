import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type BenchParts, LinkBench, type MadeLink } from './test-link-bench.ts'

/**
 * The days of a hub. away: nobody listens. broken: every answer is an error of its own. slow: no answer comes until the
 * mood changes. garbage: answers that are none. lossy: it hears everything, and hangs up instead of answering.
 */
export type HubMood = 'well' | 'away' | 'broken' | 'slow' | 'garbage' | 'lossy'

export interface ToldEnd {
  readonly outcome: 'completed' | 'failed' | 'canceled' | 'interrupted'
  readonly exitCode: number | null
  readonly error: string | null
}

/** A scripted hub of one dialect; the words around a job are the dialect's, the program is always one of Python. */
export interface StandInHub {
  readonly url: string
  open(): Promise<void>
  offer(id: string, script: string): void
  /** Once more, as if nobody had heard of it or answered. */
  offerAgain(id: string): void
  /** False where the dialect has no way to stop a job. */
  cancel(id: string): boolean
  mood(mood: HubMood): Promise<void>
  /** Each end it took for new, in order. */
  ends(id: string): readonly ToldEnd[]
  /** How often an end was told, repeats included. */
  endsHeard(id: string): number
  output(id: string): string
  progress(id: string): readonly number[]
  readonly hasLeft: boolean
  close(): Promise<void>
}

export interface LinkUnderTest {
  readonly name: string
  readonly hub: () => StandInHub
  readonly make: (hub: StandInHub, parts: BenchParts) => MadeLink
  /** What the messages of this dialect have no place for, and why: nothing is promised there. */
  readonly cannot?: Partial<Readonly<Record<'progress' | 'output' | 'reoffer', string>>> | undefined
}

function itIf(cannot: string | undefined, title: string, test: () => Promise<void>): void {
  if (cannot === undefined) it(title, test)
}

/** What every link promises, whatever the hub it talks to. */
export function linkContract({ name, hub: makeHub, make, cannot = {} }: LinkUnderTest): void {
  describe(`the link contract: ${name}`, () => {
    let hub: StandInHub
    let bench: LinkBench
    beforeEach(async () => {
      hub = makeHub()
      await hub.open()
      bench = new LinkBench(parts => make(hub, parts))
    })
    afterEach(async () => {
      await bench.remove()
      await hub.close()
    })
    const mark = (text: string) => `open(${JSON.stringify(bench.marks)}, 'a').write(${JSON.stringify(text)})\n`
    const untilMade = (file: string) =>
      `import os, time\nwhile not os.path.exists(${JSON.stringify(file)}): time.sleep(0.01)\n`
    const eventually = (check: () => void) => vi.waitFor(check, { timeout: 15_000, interval: 20 })
    const release = () => `${bench.root}/release`
    const letGo = async () => {
      const { writeFile } = await import('node:fs/promises')
      await writeFile(release(), '')
    }

    it('runs what the hub offers and tells how it ended', async () => {
      await bench.start()
      hub.offer('a', `${mark('x')}print('hello')`)
      await eventually(() => expect(hub.ends('a')).toMatchObject([{ outcome: 'completed', exitCode: 0, error: null }]))
      expect(bench.marksMade).toBe('x')
    })

    it('tells a failure with its exit code and the last words', async () => {
      await bench.start()
      hub.offer('a', `raise SystemExit('no luck')`)
      await eventually(() => expect(hub.ends('a')).toHaveLength(1))
      expect(hub.ends('a')).toMatchObject([{ outcome: 'failed', exitCode: 1 }])
      expect(hub.ends('a')[0]?.error).toContain('no luck')
    })

    it('does not run what is offered again while it runs', async () => {
      await bench.start()
      hub.offer('a', `${mark('x')}${untilMade(release())}`)
      await eventually(() => expect(bench.marksMade).toBe('x'))
      hub.offerAgain('a')
      hub.offer('b', mark('y'))
      await eventually(() => expect(hub.ends('b')).toHaveLength(1))
      await letGo()
      await eventually(() => expect(hub.ends('a')).toHaveLength(1))
      expect([...bench.marksMade].sort().join('')).toBe('xy')
    })

    itIf(cannot.reoffer, 'tells the end again of what is offered again after it, and does not run it', async () => {
      await bench.start()
      hub.offer('a', mark('x'))
      await eventually(() => expect(hub.ends('a')).toHaveLength(1))
      const heard = hub.endsHeard('a')
      hub.offerAgain('a')
      await eventually(() => expect(hub.endsHeard('a')).toBeGreaterThan(heard))
      expect(bench.marksMade).toBe('x')
      expect(hub.ends('a')).toHaveLength(1)
    })

    itIf(cannot.output, 'brings all lines of both streams, in their order', async () => {
      await bench.start()
      const lines = Array.from({ length: 700 }, (_, i) => `line ${i}`)
      hub.offer('a', `import sys\nfor i in range(700): print('line', i)\nprint('aside', file=sys.stderr)`)
      await eventually(() => expect(hub.ends('a')).toHaveLength(1))
      const told = hub.output('a').split('\n')
      expect(told.filter(line => line.startsWith('line'))).toEqual(lines)
      expect(told).toContain('aside')
    })

    itIf(cannot.progress, 'tells progress while it runs', async () => {
      await bench.start()
      const event = JSON.stringify({ event: 'progress', percent: 40, operation: 'halfway' })
      hub.offer('a', `print(${JSON.stringify(event)}, flush=True)\n${untilMade(release())}`)
      await eventually(() => expect(hub.progress('a')).toContain(40))
      await letGo()
      await eventually(() => expect(hub.ends('a')).toHaveLength(1))
    })

    it('goes on with a program after a restart of the worker, and tells its end once', async () => {
      await bench.start()
      hub.offer('a', `${mark('x')}${untilMade(release())}${mark('y')}`)
      await eventually(() => expect(bench.marksMade).toBe('x'))
      await bench.end()
      await letGo()
      await eventually(() => expect(bench.marksMade).toBe('xy'))
      await bench.start()
      await eventually(() => expect(hub.ends('a')).toMatchObject([{ outcome: 'completed' }]))
      expect(bench.marksMade).toBe('xy')
    })

    it('keeps an end over a restart of the worker until the hub is there again', async () => {
      await bench.start()
      hub.offer('a', `${mark('x')}${untilMade(release())}${mark('y')}`)
      await eventually(() => expect(bench.marksMade).toBe('x'))
      await hub.mood('away')
      await letGo()
      await eventually(() => expect(bench.running).toBe(0))
      await bench.end()
      await bench.start()
      await hub.mood('well')
      await eventually(() => expect(hub.ends('a')).toMatchObject([{ outcome: 'completed' }]))
      expect(bench.marksMade).toBe('xy')
    })

    it.each(['away', 'broken', 'slow', 'garbage', 'lossy'] as const)(
      'loses nothing while the hub is %s',
      async mood => {
        await bench.start()
        hub.offer('a', `${mark('x')}print('before', flush=True)\n${untilMade(release())}print('after')`)
        await eventually(() => expect(bench.marksMade).toBe('x'))
        await hub.mood(mood)
        await letGo()
        await eventually(() => expect(bench.running).toBe(0))
        await hub.mood('well')
        hub.offer('b', mark('y'))
        await eventually(() => expect(hub.ends('a')).toMatchObject([{ outcome: 'completed', exitCode: 0 }]))
        await eventually(() => expect(hub.ends('b')).toHaveLength(1))
        expect(bench.marksMade).toBe('xy')
        if (cannot.output === undefined) expect(hub.output('a')).toContain('after')
      },
    )

    it('comes to a hub that is not there yet', async () => {
      await hub.mood('away')
      await bench.start()
      await hub.mood('well')
      hub.offer('a', mark('x'))
      await eventually(() => expect(hub.ends('a')).toHaveLength(1))
    })

    it('ends the whole tree of a program that the hub cancels, where the hub can', async () => {
      await bench.start()
      hub.offer('a', `import subprocess\n${mark('x')}subprocess.run(['sleep', '300'])`)
      await eventually(() => expect(bench.marksMade).toBe('x'))
      expect(hub.cancel('a')).toBe(true)
      await eventually(() => expect(bench.running).toBe(0))
      await eventually(() => expect(hub.ends('a')).toMatchObject([{ outcome: 'canceled' }]))
    })

    it('leaves in order: what runs is stopped and told, then it says goodbye', async () => {
      await bench.start()
      hub.offer('a', `${mark('x')}${untilMade(release())}`)
      await eventually(() => expect(bench.marksMade).toBe('x'))
      await bench.shutDown()
      expect(hub.ends('a')).toMatchObject([{ outcome: 'interrupted' }])
      expect(hub.hasLeft).toBe(true)
    })
  })
}

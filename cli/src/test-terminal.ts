import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { startTestHub, TEST_TOKEN } from '../../client/src/test-hub.ts'
import { readConfig } from './config.ts'
import type { Io, Out } from './io.ts'
import { runCli } from './run-cli.ts'

export type TestHub = Awaited<ReturnType<typeof startTestHub>>

export interface TerminalOptions {
  readonly stdin?: string
  /** What the person answers when asked; without it nobody can be asked. */
  readonly answer?: string
  /** Width of a terminal; without it stdout and stderr are pipes. */
  readonly columns?: number
  readonly env?: Readonly<Record<string, string>>
  readonly programs?: string
  /** Where the person is (the home). */
  readonly folder?: string
  readonly now?: number
  /** Gets a way to press Ctrl-C before anything is written. */
  readonly onStart?: (stop: () => void) => void
  /** Called with everything written so far, and a way to press Ctrl-C. */
  readonly onWrite?: (text: string, stop: () => void) => void
}

/** A terminal that is a test: runs one command line in this process and gives what was written and the exit code. */
export async function typeLine(home: string, argv: readonly string[], of: TerminalOptions = {}) {
  const written = { stdout: '', stderr: '' }
  const handlers = new Set<() => void>()
  const stop = () => {
    for (const handler of handlers) handler()
  }
  const out = (name: 'stdout' | 'stderr'): Out => ({
    isTTY: of.columns !== undefined,
    columns: () => of.columns,
    rows: () => (of.columns === undefined ? undefined : 24),
    write(text) {
      written[name] += typeof text === 'string' ? text : Buffer.from(text).toString('utf8')
      of.onWrite?.(written.stdout + written.stderr, stop)
    },
  })
  const io: Io = {
    stdout: out('stdout'),
    stderr: out('stderr'),
    readStdin: async () => of.stdin ?? '',
    ask: async question => {
      if (of.answer !== undefined) written.stderr += question
      return of.answer ?? null
    },
    readHidden: async () => of.stdin ?? '',
    config: readConfig({ STOKER_HOME: home, NO_COLOR: '1', ...of.env }),
    version: '0.0.0-test',
    folder: of.folder ?? home,
    programs: of.programs ?? join(home, 'no-programs'),
    now: () => of.now ?? Date.now(),
    onStop(handler) {
      handlers.add(handler)
      return () => handlers.delete(handler)
    },
  }
  of.onStart?.(stop)
  const code = await runCli(argv, io)
  if (handlers.size > 0) throw new Error(`a command should let go of signals, ${handlers.size} handlers are left`)
  return { code, ...written }
}

/** Gives every test of a file a home folder of its own, gone after it. */
export function useTestFolder(): () => string {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'stoker-cli-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))
  return () => folder
}

/** Gives every test of a file a small hub and a home of its own, both gone after it. */
export function useTestHub() {
  const state: { hub?: TestHub } = {}
  const home = useTestFolder()
  beforeEach(async () => {
    state.hub = await startTestHub()
  })
  afterEach(() => state.hub?.close())
  const hub = (): TestHub => {
    if (state.hub === undefined) throw new Error('the hub of a test is there only while it runs')
    return state.hub
  }
  const stoker = (argv: readonly string[], of: TerminalOptions = {}) =>
    typeLine(home(), argv, { ...of, env: { STOKER_URL: hub().url, STOKER_TOKEN: TEST_TOKEN, ...of.env } })
  return { hub, stoker, home }
}

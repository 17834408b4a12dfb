import { createInterface } from 'node:readline'
import { readConfig } from './config.ts'
import type { Io, Out } from './io.ts'
import { readHidden } from './read-hidden.ts'
import { VERSION } from './version.ts'

const STOPS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** The real terminal, clock and signals of this process. */
export function systemIo(programs: string): Io {
  return {
    stdout: outOf(process.stdout),
    stderr: outOf(process.stderr),
    readStdin,
    ask,
    readHidden: ask => (process.stdin.isTTY ? hiddenLine(ask) : readStdin()),
    config: readConfig(),
    version: VERSION,
    folder: process.cwd(),
    programs,
    now: Date.now,
    onStop(handler) {
      for (const signal of STOPS) process.on(signal, handler)
      return () => {
        for (const signal of STOPS) process.off(signal, handler)
      }
    },
  }
}

function outOf(stream: NodeJS.WriteStream): Out {
  stream.on('error', error => {
    if ('code' in error && error.code === 'EPIPE') process.exit(0)
    throw error
  })
  return {
    write: text => void stream.write(text),
    isTTY: stream.isTTY === true,
    columns: () => (stream.isTTY ? stream.columns : undefined),
    rows: () => (stream.isTTY ? stream.rows : undefined),
  }
}

function ask(question: string): Promise<string | null> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return Promise.resolve(null)
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  return new Promise(resolve => {
    reader.on('close', () => resolve(null))
    reader.question(question, answer => {
      resolve(answer)
      reader.close()
    })
  })
}

async function hiddenLine(ask: () => void): Promise<string> {
  const line = await readHidden(process.stdin, ask)
  process.stderr.write('\n')
  return line
}

async function readStdin(): Promise<string> {
  let text = ''
  for await (const part of process.stdin.setEncoding('utf8')) text += part
  return text
}

import type { ReadStream } from 'node:tty'
import { Failure } from './failure.ts'

const [ENTER, LINE_FEED, END, INTERRUPT, DELETE, BACKSPACE] = ['\r', '\n', '\u0004', '\u0003', '\u007f', '\b']

/** One line from a terminal that shows nothing of it. */
export async function readHidden(terminal: ReadStream, ask: () => void): Promise<string> {
  ask()
  terminal.setRawMode(true)
  terminal.setEncoding('utf8')
  try {
    return await lineFrom(terminal)
  } finally {
    terminal.setRawMode(false)
    terminal.pause()
  }
}

function lineFrom(terminal: ReadStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = ''
    const onData = (typed: string) => {
      for (const key of typed) {
        if (key === ENTER || key === LINE_FEED || key === END) return done(() => resolve(line))
        if (key === INTERRUPT) return done(() => reject(new Failure('nothing was set: it was interrupted')))
        line = key === DELETE || key === BACKSPACE ? line.slice(0, -1) : line + key
      }
    }
    const done = (settle: () => void) => {
      terminal.off('data', onData)
      settle()
    }
    terminal.on('data', onData)
  })
}

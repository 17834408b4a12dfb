import { appendFileSync } from 'node:fs'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

/**
 * Loaded into another program by `node --import`: a thread asks the program's event loop for an answer every millisecond
 * and writes to the file named in the address (`?file=…&megabytes=…`) how long each took: start in ms since 1970, duration in
 * ms. The program holds so many megabytes more.
 */
const EVERY_MS = 1
const FLUSH_MS = 100

if (isMainThread) watch()
else ask(workerData.file)

function watch() {
  const { file, megabytes } = Object.fromEntries(new URL(import.meta.url).searchParams)
  globalThis.heldByLoopProbe = Buffer.alloc(Number(megabytes) * 1e6, 1)
  const thread = new Worker(new URL(import.meta.url), { workerData: { file }, execArgv: [] })
  thread.on('message', () => thread.postMessage(0))
  thread.unref()
}

function ask(file) {
  const sleeper = new Int32Array(new SharedArrayBuffer(4))
  let lines = ''
  let askedAt = 0
  let flushedAt = performance.now()
  const next = () => {
    askedAt = performance.now()
    parentPort.postMessage(0)
  }
  parentPort.on('message', () => {
    const now = performance.now()
    lines += `${(performance.timeOrigin + askedAt).toFixed(2)} ${(now - askedAt).toFixed(3)}\n`
    if (now - flushedAt > FLUSH_MS) {
      appendFileSync(file, lines)
      lines = ''
      flushedAt = performance.now()
    }
    Atomics.wait(sleeper, 0, 0, EVERY_MS)
    next()
  })
  next()
}

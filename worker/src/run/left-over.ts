import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readExitRecord } from '../executors/exit-record.ts'
import type { Execution, OutputSizes } from '../executors/port.ts'

/** A program that ended and was released, and whose end the hub may not know yet: its exit record and files tell it all again. */
export async function endedExecution(folder: string, key: string): Promise<Execution | null> {
  const exit = await readExitRecord(folder, key)
  if (exit === null) return null
  const sizes = { stdout: await sizeOf(join(folder, 'stdout')), stderr: await sizeOf(join(folder, 'stderr')) }
  return {
    key,
    folder,
    pid: 0,
    startedAtMs: exit.startedAtMs,
    hasEnded: true,
    onOutput: (listener: (sizes: OutputSizes) => void) => queueMicrotask(() => listener(sizes)),
    ended: Promise.resolve(exit),
    stop: () => {},
    usage: () => Promise.resolve(null),
    release: () => Promise.resolve(),
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch {
    return 0
  }
}

import { readExitRecord } from '../executors/exit-record.ts'
import { outputSizes } from '../executors/output-files.ts'
import type { Execution, LinesWritten, OutputSizes } from '../executors/port.ts'

/** A program that ended and was released, and whose end the hub may not know yet: its exit record and files tell it all again. */
export async function endedExecution(folder: string, key: string): Promise<Execution | null> {
  const exit = await readExitRecord(folder, key)
  if (exit === null) return null
  const sizes = await outputSizes(folder)
  return {
    key,
    folder,
    pid: 0,
    startedAtMs: exit.startedAtMs,
    containerId: exit.containerId ?? null,
    hasEnded: true,
    sizes,
    onOutput: (listener: (sizes: OutputSizes) => void) => queueMicrotask(() => listener(sizes)),
    ended: Promise.resolve(exit),
    stop: () => {},
    line: () => {},
    onLines: (listener: (written: LinesWritten) => void) =>
      queueMicrotask(() => listener({ n: exit.lines ?? 0, refused: false })),
    endInput: () => {},
    heard: () => {},
    usage: () => Promise.resolve(null),
    release: () => Promise.resolve(),
  }
}

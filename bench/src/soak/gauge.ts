import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { memoryMbOf } from '../processes/memory-of.ts'
import type { Look } from './trend.ts'

/** What one process and its folder took, look by look. */
export interface Gauged {
  readonly memoryMb: Look[]
  readonly handles: Look[]
  readonly dataMb: Look[]
}

export function emptyGauge(): Gauged {
  return { memoryMb: [], handles: [], dataMb: [] }
}

export async function look(gauged: Gauged, pid: number, folder: string): Promise<void> {
  const at = performance.now()
  gauged.memoryMb.push([at, await memoryMbOf(pid)])
  gauged.handles.push([at, (await readdir(`/proc/${pid}/fd`)).length])
  gauged.dataMb.push([at, (await bytesBelow(folder)) / 1e6])
}

/** Files come and go while they are counted. */
async function bytesBelow(folder: string): Promise<number> {
  let sum = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) sum += await bytesBelow(path)
    else if (entry.isFile()) sum += (await stat(path).catch(() => ({ size: 0 }))).size
  }
  return sum
}

import type { GpuSample } from '@stoker/protocol'
import { cellsOf, isGpuUuid, numberIn } from './nvidia-csv.ts'

/** What is known of our own use while the driver's list is read. */
export interface OwnUse {
  /** Whether a process is an attempt's; null if it cannot be seen from here. */
  readonly isOurs: (pid: number) => Promise<boolean | null>
  /** Devices that attempts of this worker have. */
  readonly inUse: ReadonlySet<string>
  readonly samples: readonly GpuSample[]
}

/** Memory that programs of others use on each device; null where the driver does not say and our own program is there too. */
export async function foreignUse(
  output: string,
  uuids: readonly string[],
  own: OwnUse,
): Promise<ReadonlyMap<string, number | null>> {
  const found = new Map<string, number | null>(uuids.map(uuid => [uuid, 0]))
  for (const line of output.split('\n')) {
    const [uuid, pidText, memory] = cellsOf(line)
    const before = isGpuUuid(uuid) ? found.get(uuid) : undefined
    const pid = numberIn(pidText)
    if (!isGpuUuid(uuid) || before === undefined || before === null) continue
    const isOurs = pid === null ? null : await own.isOurs(pid)
    if (isOurs === true) continue
    const usedMb = numberIn(memory)
    const isSure = isOurs === false && usedMb !== null
    found.set(uuid, isSure ? before + usedMb : own.inUse.has(uuid) ? null : sampled(uuid, own, before + (usedMb ?? 0)))
  }
  return found
}

/** Without a program of ours all that is used is foreign. */
function sampled(uuid: string, { samples }: OwnUse, atLeastMb: number): number {
  return Math.max(atLeastMb, samples.find(sample => sample.uuid === uuid)?.memoryUsedMb ?? 0)
}

import { cellsOf, isGpuUuid, numberIn } from './nvidia-csv.ts'

/** What the driver prints in a cell, or instead of a line, when a device is beyond use. */
const BROKEN = /GPU is lost|ERR!|requires reset|Unable to determine the device handle|fallen off the bus/i

/** What is wrong with each device that should be there; devices the driver says nothing of are sound. */
export function deviceFaults(said: string, uuids: readonly string[]): ReadonlyMap<string, string> {
  const lines = said.split('\n').map(line => line.trim())
  const faults = new Map<string, string>()
  const listed = new Set<string>()
  for (const line of lines) {
    const [uuid, uncorrected, pending] = cellsOf(line)
    if (!isGpuUuid(uuid)) continue
    listed.add(uuid)
    const fault = faultIn(line, uncorrected, pending)
    if (fault !== null) faults.set(uuid, fault)
  }
  const complaint = lines.find(line => !isGpuUuid(cellsOf(line)[0]) && BROKEN.test(line))
  if (complaint !== undefined)
    for (const uuid of uuids) if (!listed.has(uuid)) faults.set(uuid, `nvidia-smi lists it no more: ${complaint}`)
  return faults
}

function faultIn(line: string, uncorrected: string | undefined, pending: string | undefined): string | null {
  const broken = BROKEN.exec(line)
  if (broken !== null) return `nvidia-smi says "${broken[0]}"`
  const errors = numberIn(uncorrected) ?? 0
  if (errors > 0) return `${errors} uncorrected memory errors since the driver was loaded`
  return pending === 'Yes' ? 'memory pages wait to be retired; the device needs a reset' : null
}

import { formatSize, Refused } from '@stoker/protocol'

/** Null while there is room for new work. */
export type DiskGuard = () => { readonly freeBytes: number; readonly neededBytes: number } | null

/** New work waits for nobody: where its data would not fit, it is refused before any of it is taken. */
export function refuseWhenFull(diskGuard: DiskGuard): void {
  const shortage = diskGuard()
  if (shortage === null) return
  const { freeBytes, neededBytes } = shortage
  throw new Refused(
    'disk.full',
    `the disk of the hub has ${formatSize(freeBytes)} free, new work needs ${formatSize(neededBytes)}`,
  )
}

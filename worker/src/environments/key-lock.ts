import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type FolderLock, FolderLocked, lockFolder } from '@stoker/files'

const LOOK_AGAIN_MS = 200

export interface LockWait {
  readonly signal?: AbortSignal | undefined
  /** Another process of this machine has it, and is waited for. */
  readonly onWait?: ((owner: { readonly pid: number }) => void) | undefined
}

/** One process of this machine at a time; it also ends, unasked, with the process. */
export async function lockKey(folder: string, key: string, { signal, onWait }: LockWait = {}): Promise<FolderLock> {
  const place = join(folder, key)
  await mkdir(place, { recursive: true, mode: 0o700 })
  for (;;) {
    signal?.throwIfAborted()
    try {
      return await lockFolder(place)
    } catch (error) {
      if (!(error instanceof FolderLocked)) throw error
      onWait?.(error)
      await pause(LOOK_AGAIN_MS, undefined, signal === undefined ? {} : { signal })
    }
  }
}

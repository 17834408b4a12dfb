import { join } from 'node:path'
import { readJsonOr, writeAtomic } from '@stoker/files'
import { z } from 'zod'
import type { ListenersPorts } from './listeners.ts'

const Remembered = z.object({ listeners: z.array(z.string()) })

/** A file beside the data and not in a backup: addresses belong to the machine. */
export function rememberedIn(folder: string): ListenersPorts['remembered'] {
  const file = join(folder, 'listeners.json')
  return {
    async read() {
      const parsed = Remembered.safeParse(await readJsonOr(file, { listeners: [] }))
      if (parsed.success) return parsed.data.listeners
      throw new Error(`${file} should hold the remembered listeners, ${parsed.error.issues[0]?.message}`)
    },
    write: listeners => writeAtomic(file, `${JSON.stringify({ listeners })}\n`, { mode: 0o600 }),
  }
}

import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { readJsonOr, sha256, writeAtomic } from '@stoker/files'
import { z } from 'zod'

const Marker = z.object({ joined: z.string().nullable(), greeted: z.boolean() })

/** What `up` remembers of a data folder: which hub its worker has joined, and that the first job was shown. */
export type UpMarker = Readonly<z.infer<typeof Marker>>

export async function readMarker(file: string): Promise<UpMarker> {
  const marker = Marker.safeParse(await readJsonOr(file, null))
  return marker.success ? marker.data : { joined: null, greeted: false }
}

export async function writeMarker(file: string, marker: UpMarker): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeAtomic(file, `${JSON.stringify(marker)}\n`, { mode: 0o600 })
}

/** Tells one hub's data from another's without keeping its token. */
export function hubMark(token: string): string {
  return sha256(`stoker up ${token}`).slice(0, 16)
}

import { realpath } from 'node:fs/promises'
import { type Container, type Containers, liesBelow } from '@stoker/protocol'
import { Declined } from './declined.ts'

/** Mounts by what they really are: a link below an allowed folder must not lead out of it. */
export async function realMounts(
  { mounts }: Pick<Container, 'mounts'>,
  { allowedMounts }: Pick<Containers, 'allowedMounts'>,
): Promise<Container['mounts']> {
  if (mounts.length === 0) return mounts
  const roots = await Promise.all(allowedMounts.map(root => realpath(root).catch(() => root)))
  return Promise.all(
    mounts.map(async mount => {
      const source = await realpath(mount.source).catch(() => null)
      if (source === null) throw new Declined(`the job mounts ${mount.source}, this worker has no such path`)
      if (!liesBelow(source, roots))
        throw new Declined(
          `the job mounts ${mount.source}, which is ${source}; this worker allows mounts below ${allowedMounts.join(', ') || 'no folder'} only`,
        )
      return { ...mount, source }
    }),
  )
}

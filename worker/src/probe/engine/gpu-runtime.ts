import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { z } from 'zod'

/** With it the engine registers a device driver for `--gpus`, whichever runtime it uses; its own list does not name it. */
const HOOK = 'nvidia-container-runtime-hook'
const USUAL = ['/usr/bin', '/usr/local/bin', '/usr/sbin', '/bin']

const Info = z.object({
  Runtimes: z.record(z.string(), z.unknown()).nullish(),
  DiscoveredDevices: z.array(z.object({ ID: z.string() })).nullish(),
})

/** Whether a Docker engine can hand NVIDIA devices to containers: by a runtime it names, by CDI, or by the hook beside it. */
export async function hasGpuRuntime(info: unknown, path: string | undefined): Promise<boolean> {
  const { Runtimes, DiscoveredDevices } = Info.parse(info)
  if (Object.hasOwn(Runtimes ?? {}, 'nvidia')) return true
  if ((DiscoveredDevices ?? []).some(({ ID }) => ID.startsWith('nvidia.com/gpu'))) return true
  for (const folder of [...USUAL, ...(path ?? '').split(delimiter)])
    if (folder !== '' && (await isExecutable(join(folder, HOOK)))) return true
  return false
}

function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}

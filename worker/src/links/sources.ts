import type { DeviceNews, GpuSample, HostSample } from '@stoker/protocol'

/** Where a link gets the figures it tells: what was measured last, never a guess. */
export interface Sources {
  readonly host: () => HostSample
  readonly gpus: () => readonly GpuSample[]
  readonly devices: () => readonly DeviceNews[]
}

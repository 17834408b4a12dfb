import { Refused } from '@stoker/protocol'
import type { Command, Facts, Replies } from '../commands.ts'
import type { Now, State } from '../state.ts'
import type { Emit } from './emit.ts'

type Of<K extends Command['kind']> = Extract<Command, { kind: K }>

/** Jobs that have the device keep it; no other gets it until it is released. */
export function decideQuarantine(
  state: State,
  { uuid, reason, by }: Of<'quarantine'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['quarantine'] {
  refuseUnknown(state, uuid)
  if (state.quarantined.get(uuid)?.reason !== reason)
    emit.change({ c: 'deviceQuarantined', uuid, reason, by, at: now.wall })
  return null
}

export function decideReleaseDevice(
  state: State,
  { uuid, by }: Of<'releaseDevice'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['releaseDevice'] {
  if (state.quarantined.has(uuid)) emit.change({ c: 'deviceReleased', uuid, by, at: now.wall })
  else refuseUnknown(state, uuid)
  return null
}

function refuseUnknown(state: State, uuid: string): void {
  if (state.fleet.hostsOf(uuid).length > 0) return
  throw new Refused(
    'device.not_found',
    `no worker has a device ${JSON.stringify(uuid)}; ${state.fleet.gpus} devices are known`,
  )
}

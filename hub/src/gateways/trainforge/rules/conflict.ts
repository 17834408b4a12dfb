import { FASTEST_POLL_MS, OFFLINE_MS } from './times.ts'

/** One call under an id. */
export interface Sighting {
  readonly at: number
  readonly address: string
  readonly hostname: string | null
}

/** One fast pair may be a restart: two in a row are two processes. */
const FAST_POLLS = 2

/** Why two live workers seem to use one id; null if all calls may be of one. */
export function strangerIn(last: Sighting | null, next: Sighting): string | null {
  if (last === null || next.at - last.at >= OFFLINE_MS) return null
  if (last.address !== next.address) return `calls come from ${last.address} and from ${next.address}`
  if (last.hostname !== null && next.hostname !== null && last.hostname !== next.hostname)
    return `hosts ${last.hostname} and ${next.hostname} both say they are it`
  return null
}

/** How many polls in a row came faster than one process asks. */
export function fastPolls(before: number, sinceLastMs: number): number {
  return sinceLastMs < FASTEST_POLL_MS ? before + 1 : 0
}

export function isTooFast(fast: number): boolean {
  return fast >= FAST_POLLS
}

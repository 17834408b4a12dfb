import { type Finding, formatDuration } from '@stoker/protocol'
import { ok } from './findings.ts'

/** The header counts whole seconds: half of one, and half of the way there and back, is not known. */
const TICK_MS = 1000
const STRANGE_MS = 2_000
const WRONG_MS = 5 * 60_000

/** How far apart the clocks are; times in lists and the expiry of tokens rely on them, leases do not. */
export function clockFinding(date: string | null, askedAt: number, tookMs: number): Finding {
  const hubTime = date === null ? Number.NaN : Date.parse(date)
  if (Number.isNaN(hubTime)) return ok('clock', 'the hub does not tell its time')
  const difference = hubTime + TICK_MS / 2 - (askedAt + tookMs / 2)
  const unknown = TICK_MS / 2 + tookMs / 2
  const apart = Math.max(0, Math.abs(difference) - unknown)
  if (apart < STRANGE_MS)
    return ok('clock', `clocks are at most ${formatDuration(Math.abs(difference) + unknown)} apart`)
  const text = `the hub's clock is ${formatDuration(Math.abs(difference))} ${difference > 0 ? 'ahead' : 'behind'}`
  const todo = 'synchronise both machines: timedatectl set-ntp true'
  return { check: 'clock', level: apart > WRONG_MS ? 'bad' : 'warn', text, todo }
}

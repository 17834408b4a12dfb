import type { Random } from './world/random.ts'

export const FAULT_NAMES = ['crash-hub', 'crash-worker', 'partition', 'pause', 'clock', 'disk-full'] as const
type FaultName = (typeof FAULT_NAMES)[number]
export const PROFILE_NAMES = ['none', 'light', 'heavy', 'chaos'] as const

/** How often what goes wrong: mean pauses in milliseconds between faults of a kind (null: never), and chances. */
export interface FaultPlan {
  readonly everyMs: Readonly<Record<FaultName | 'break' | 'operator' | 'leave' | 'remove', number | null>>
  /** The chance that a hub dies between deciding and writing, or between writing and telling. */
  readonly crashPoint: number
  readonly lostReply: number
  readonly declined: number
  /** Whether disks and queries take uneven time. */
  readonly isSlow: boolean
}

const NEVER = {
  'crash-hub': null,
  'crash-worker': null,
  partition: null,
  pause: null,
  clock: null,
  'disk-full': null,
  break: null,
  operator: null,
  leave: null,
  remove: null,
} as const

const NONE: FaultPlan = { everyMs: NEVER, crashPoint: 0, lostReply: 0, declined: 0, isSlow: false }

/** Fault names that only chaos and heavy share; means are for the whole fleet. */
const RATES = { light: 45_000, heavy: 15_000, chaos: 6_000 } as const

/** A profile name, or a comma list of single faults at the heavy rate; null if a name is not known. */
export function faultPlan(names: string): FaultPlan | null {
  if (names === 'none') return NONE
  if (names === 'light' || names === 'heavy' || names === 'chaos') return profile(names)
  const listed = names.split(',')
  if (!listed.every(isFaultName)) return null
  const everyMs = { ...NEVER, ...Object.fromEntries(listed.map(name => [name, RATES.heavy])) }
  return { everyMs, crashPoint: listed.includes('crash-hub') ? 0.005 : 0, lostReply: 0.05, declined: 0, isSlow: true }
}

function profile(name: 'light' | 'heavy' | 'chaos'): FaultPlan {
  const ms = RATES[name]
  return {
    everyMs: {
      'crash-hub': ms * 2,
      'crash-worker': ms,
      partition: ms,
      pause: ms * 2,
      clock: ms * 3,
      'disk-full': name === 'light' ? null : ms * 4,
      break: ms / 2,
      operator: ms,
      leave: ms * 3,
      remove: name === 'light' ? null : ms * 3,
    },
    crashPoint: name === 'light' ? 0.001 : name === 'heavy' ? 0.005 : 0.01,
    lostReply: name === 'light' ? 0.02 : 0.1,
    declined: 0.02,
    isSlow: true,
  }
}

function isFaultName(name: string): name is FaultName {
  return (FAULT_NAMES as readonly string[]).includes(name)
}

/** How long things stay broken: mostly short, sometimes long enough for leases to run out. */
export function outageMs(random: Random): number {
  return random.chance(0.7) ? random.between(50, 5_000) : random.between(5_000, 40_000)
}

import type { Goal, PeerName } from './goal.ts'
import { OPS_GOALS } from './ops-goals.ts'
import { PEER_GOALS } from './peer-goals.ts'

/** Every measure of this bench with its goals. */
export const GOALS = { ...PEER_GOALS, ...OPS_GOALS } as const satisfies Record<string, Goal>

export type GoalName = keyof typeof GOALS

/** The rounds of a measure, or why there are none. */
export type Rounds = readonly number[] | { readonly notMeasured: string }

/** What a measure found: our own rounds, and those of each peer it was beside. */
interface Found {
  readonly ours: Rounds
  readonly peers: Partial<Record<PeerName, Rounds>>
}

export type Findings = Partial<Record<GoalName, Found>>

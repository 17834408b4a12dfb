import type { Goal, PeerName } from './goal.ts'
import { OPS_GOALS } from './ops-goals.ts'
import { OTHER_PEER_GOALS } from './other-peer-goals.ts'
import { PEER_GOALS } from './peer-goals.ts'
import { QUBIX_GOALS } from './qubix-goals.ts'
import { SCALE_GOALS } from './scale-goals.ts'
import { SESSION_GOALS } from './session-goals.ts'

/** Every measure of this bench with its goals. */
export const GOALS = {
  ...PEER_GOALS,
  ...OTHER_PEER_GOALS,
  ...SCALE_GOALS,
  ...OPS_GOALS,
  ...SESSION_GOALS,
  ...QUBIX_GOALS,
} as const satisfies Record<string, Goal>

export type GoalName = keyof typeof GOALS

/** Why there are no figures. */
export interface NotMeasured {
  readonly notMeasured: string
}

/** The rounds of a measure, or why there are none. */
export type Rounds = readonly number[] | NotMeasured

/** What a measure found: our own rounds, and those of each peer it was beside. */
export interface Found {
  readonly ours: Rounds
  readonly peers: Partial<Record<PeerName, Rounds>>
}

export type Findings = Partial<Record<GoalName, Found>>

import type { Comparison, Goal } from '../goals/goal.ts'
import { type Findings, GOALS, type GoalName, type Rounds } from '../goals/goals.ts'
import { type Figure, figureOf } from '../statistics.ts'

export type Verdict = 'aim' | 'must' | 'missed' | 'not measured' | 'for comparison'

/** One comparison of one measure: a line of the table. */
export interface Line {
  readonly goal: GoalName
  readonly title: string
  readonly unit: Goal['unit']
  readonly better: Goal['better']
  readonly ours: Figure | null
  readonly peer: Comparison['peer']
  readonly theirs: Figure | null
  /** Ours divided by the peer's; without a peer, our own median. */
  readonly value: number | null
  readonly must: number | null
  readonly aim: number | null
  readonly verdict: Verdict
  readonly why: string | null
  readonly how?: string
}

export function linesOf(findings: Findings): Line[] {
  const names = Object.keys(GOALS) as GoalName[]
  return names.flatMap(name => {
    const found = findings[name]
    if (found === undefined) return []
    const goal: Goal = GOALS[name]
    return goal.against.map(comparison =>
      lineOf(name, goal, comparison, found.ours, theirRounds(found.peers, comparison)),
    )
  })
}

function theirRounds(peers: Readonly<Record<string, Rounds | undefined>>, { peer }: Comparison): Rounds | null {
  return peer === null ? null : (peers[peer] ?? { notMeasured: `${peer} took no part` })
}

function lineOf(goal: GoalName, of: Goal, comparison: Comparison, ours: Rounds, theirs: Rounds | null): Line {
  const { title, unit, better } = of
  const our = figureOrNull(ours)
  const their = theirs === null ? null : figureOrNull(theirs)
  const value = our === null ? null : theirs === null ? our.median : their === null ? null : our.median / their.median
  const why = reasonOf(ours) ?? (theirs === null ? null : reasonOf(theirs))
  const verdict = judge(value, better, comparison)
  return { goal, title, unit, better, ours: our, theirs: their, ...comparison, value, verdict, why }
}

/** A goal that could not be measured is neither met nor missed. */
export function judge(value: number | null, better: Goal['better'], { must, aim }: Comparison): Verdict {
  if (value === null) return 'not measured'
  const reaches = (limit: number) => (better === 'higher' ? value >= limit : value <= limit)
  if (must === null) return 'for comparison'
  if (!reaches(must)) return 'missed'
  return aim !== null && reaches(aim) ? 'aim' : 'must'
}

function figureOrNull(rounds: Rounds): Figure | null {
  return 'notMeasured' in rounds || rounds.length === 0 ? null : figureOf(rounds)
}

function reasonOf(rounds: Rounds): string | null {
  return 'notMeasured' in rounds ? rounds.notMeasured : null
}

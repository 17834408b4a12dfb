import type { Compatibility } from './compatibility.ts'

export const SORTS = ['cost_benefit', 'price_low', 'performance', 'availability'] as const
export type Sort = (typeof SORTS)[number]

/** What the order of offers rests on. */
export interface Ranked {
  readonly compatibility: Compatibility
  readonly estimatedDuration: number
  readonly estimatedCost: number
  readonly costBenefitScore: number
  readonly isFree: boolean
}

const RECOMMENDED = 3

/** 0 to 100: fast counts for more than cheap. */
export function costBenefit(durationSeconds: number, cost: number): number {
  const speed = (0.6 * 1000) / durationSeconds
  const thrift = 0.4 / (cost + 0.01)
  return Math.min(100, Math.round(10 * (speed + thrift)))
}

/** The best first; what cannot take the job comes last whatever the order. */
export function ranked<T extends Ranked>(offers: readonly T[], by: Sort): T[] {
  const better = BETTER[by]
  return [...offers].sort((a, b) => last(a) - last(b) || better(a, b) || b.costBenefitScore - a.costBenefitScore)
}

export function recommendations<T extends Ranked>(inOrder: readonly T[]): T[] {
  return inOrder.filter(({ compatibility }) => compatibility !== 'insufficient').slice(0, RECOMMENDED)
}

const BETTER: Readonly<Record<Sort, (a: Ranked, b: Ranked) => number>> = {
  cost_benefit: (a, b) => b.costBenefitScore - a.costBenefitScore,
  price_low: (a, b) => a.estimatedCost - b.estimatedCost,
  performance: (a, b) => a.estimatedDuration - b.estimatedDuration,
  availability: (a, b) => Number(b.isFree) - Number(a.isFree),
}

function last({ compatibility }: Ranked): number {
  return compatibility === 'insufficient' ? 1 : 0
}

const MULTIPLIERS: Readonly<Record<string, number>> = {
  'llm-inference': 1,
  'image-generation': 1.5,
  'fine-tuning': 2,
  training: 3,
}
/** What is reckoned with where nobody named a price. */
const NO_PRICE = 1

export interface Price {
  readonly perHour: number
  readonly from: 'provider' | 'maxPrice' | 'mean' | 'default'
}

export function multiplierOf(modelType: string): number {
  const said = modelType.trim().toLowerCase()
  return Object.hasOwn(MULTIPLIERS, said) ? (MULTIPLIERS[said] ?? 1) : 1
}

/** The chosen provider's price, else the most that is paid, else the mean of those that are there. */
export function priceFor(chosen: number | null, maxPrice: number | null, available: readonly number[]): Price {
  if (chosen !== null) return { perHour: chosen, from: 'provider' }
  if (maxPrice !== null) return { perHour: maxPrice, from: 'maxPrice' }
  if (available.length === 0) return { perHour: NO_PRICE, from: 'default' }
  return { perHour: available.reduce((sum, price) => sum + price, 0) / available.length, from: 'mean' }
}

export function estimatedCost(hours: number, perHour: number, multiplier: number): number {
  return rounded(hours * perHour * multiplier)
}

/** Millionths are the smallest that is told. */
export function rounded(amount: number): number {
  return Math.round(amount * 1e6) / 1e6
}

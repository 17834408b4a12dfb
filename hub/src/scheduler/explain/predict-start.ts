import type { Bucket, Now, State } from '../../engine/state.ts'
import { limitReason } from '../limits.ts'
import { Forecast } from './forecast.ts'
import { fleetModel, limitModel } from './model-of.ts'
import type { Position } from './position.ts'
import { playOnce, type QueueModel } from './queue-model.ts'

/** Wall times; null where too many of the futures played through have no end anyone knows. */
export interface StartTimes {
  readonly p50: number | null
  readonly p90: number | null
  readonly basis: string
  readonly runs: number
}

const FUTURES = 20
/** What is not played, such as gaps, starts and jobs yet to come, makes a queue slower as a whole; the simulator compares (`stoker sim --explain`). */
const SLOWER = { least: 0.95, most: 1.6 }

/** Plays the queue forward as often as it takes to know the middle and the late end. The same question has the same answer. */
export function predictStart(state: State, bucket: Bucket, position: Position, now: Now): StartTimes {
  const forecast = new Forecast(state.runTimes)
  const isLimited = limitReason(state, bucket) !== null
  const modelOf = isLimited ? limitModel : fleetModel
  const model = modelOf(state, bucket, position, forecast, now)
  const nobody = { p50: null, p90: null, runs: 0 }
  if (model.servers.length === 0) return { ...nobody, basis: 'no worker that could run it takes jobs' }
  const delays = play(model, bucket.id + position.total)
  const at = (part: number): number | null => {
    const delay = delays[Math.ceil(part * FUTURES) - 1] ?? Number.POSITIVE_INFINITY
    return Number.isFinite(delay) ? Math.round(now.wall + delay) : null
  }
  const p50 = at(0.5)
  return { p50, p90: at(0.9), basis: p50 === null ? forecast.gap : forecast.basis, runs: forecast.runs }
}

function play(model: QueueModel, seed: number): Float64Array {
  const chance = chances(seed)
  return Float64Array.from({ length: FUTURES }, () => playOnce(model, chance) * slower(chance())).sort()
}

function slower(chance: number): number {
  return SLOWER.least + (SLOWER.most - SLOWER.least) * chance
}

/** Even numbers between 0 and 1, the same for the same seed. */
function chances(seed: number): () => number {
  let state = (seed + 1) | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
  }
}

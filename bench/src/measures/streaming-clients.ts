import { race } from '../rounds.ts'
import { echoPresets, presetSession } from '../servers/warm-session.ts'
import { quantile } from '../statistics.ts'
import { streamTask } from '../stream-task.ts'
import { fineWallClock } from '../wall-clock.ts'
import type { Measure } from './ground.ts'

const CLIENTS = 200
/** A word every 50 ms, as a model might say them: 2.5 s of streaming by themselves. */
const ASKED = { deltas: 50, everyMs: 50 }

/** Two hundred clients at once, each with a task of its own in one warm session, each reading its own stream to the end. */
export const measureStreamingClients: Measure = async stage => {
  const hub = await stage.hub(await echoPresets(stage.folder('p'), CLIENTS))
  await stage.worker(hub, 4)
  const session = await presetSession(hub)
  const medians: number[] = []
  const run = async () => {
    const now = fineWallClock()
    const startedAt = performance.now()
    const streams = Array.from({ length: CLIENTS }, () => streamTask(hub, session, ASKED, now))
    medians.push(quantile((await Promise.all(streams)).flat(), 0.5))
    return (performance.now() - startedAt) / 1000
  }
  const figures = await race([{ name: 'ours', run }], { rounds: 5, budgetMs: 0, warmUpMs: 0 })
  return {
    streamsLast: { ours: figures.get('ours') ?? [], peers: {} },
    streamsDeltaP50: { ours: medians, peers: {} },
  }
}

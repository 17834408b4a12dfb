import { echoPresets, presetSession } from '../servers/warm-session.ts'
import { followTask, streamTask } from '../stream-task.ts'
import { fineWallClock } from '../wall-clock.ts'
import { raceWaits } from './beside.ts'
import type { Measure } from './ground.ts'

/** The fraction spreads the deltas over the timers of everybody on the way. */
const ASKED = { deltas: 100, everyMs: 11.3 }

/** From the moment a warm program writes a delta until the client that waits for it has it, at both doors of the hub. */
export const measureTextDelta: Measure = async stage => {
  const hub = await stage.hub(await echoPresets(stage.folder('p'), 1))
  await stage.worker(hub, 4)
  const session = await presetSession(hub)
  const gpu = await raceWaits(() => streamTask(hub, session, ASKED, fineWallClock()), {})
  const native = await raceWaits(() => followTask(hub, session, ASKED, fineWallClock()), {})
  return {
    deltaToGpuP50: gpu.p50,
    deltaToGpuP99: gpu.p99,
    deltaToViewerP50: native.p50,
    deltaToViewerP99: native.p99,
  }
}

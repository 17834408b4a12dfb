import { setTimeout as sleep } from 'node:timers/promises'
import { stampsIn } from '../processes/stamped-program.ts'
import type { Hub } from '../servers/stoker.ts'
import { warmSession } from '../servers/warm-session.ts'
import { waitUntil } from '../wait-until.ts'
import { fineWallClock } from '../wall-clock.ts'
import { raceWaits } from './beside.ts'
import type { Measure } from './ground.ts'

const SAMPLES = 100
/** Long enough for the last task to be over; the fraction spreads the samples over the millisecond. */
const PAUSE_MS = 7.3

/** From the submit on an idle machine until the program has read the line: it answers with that moment. One after the other. */
export const measureHandOver: Measure = async stage => {
  const hub = await stage.hub()
  await stage.worker(hub, 8)
  const session = await warmSession(hub, 1)
  const { p50, p99 } = await raceWaits(() => waits(hub, session), {})
  return { handOverP50: p50, handOverP99: p99 }
}

async function waits({ client }: Hub, session: string): Promise<number[]> {
  const now = fineWallClock()
  const found: number[] = []
  for (let i = 0; i < SAMPLES; i += 1) {
    const at = now()
    const { id } = await client.sendTask(session, {})
    await waitUntil('the answer', async () => (await client.job(id)).state === 'succeeded', { everyMs: PAUSE_MS })
    const { result } = await client.job(id)
    const [readAt] = stampsIn(JSON.stringify(result))
    if (readAt === undefined) throw new Error(`task ${id} should say when it was read, its result is ${result}`)
    found.push(readAt - at)
    await sleep(PAUSE_MS + Math.random())
  }
  return found
}

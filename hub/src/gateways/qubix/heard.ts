import { hear, setConnected } from '../../engine/liveness.ts'
import type { EngineLoop } from '../../engine/loop.ts'

/** Any request shows that a worker lives. */
export function heardOf(engine: Pick<EngineLoop, 'touch'>, worker: string): void {
  engine.touch((state, now) => {
    hear(state, worker, now)
    if (state.workers.get(worker)?.connected === false) setConnected(state, worker, true)
  })
}

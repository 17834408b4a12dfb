import { EngineClient, EngineRefused } from '@stoker/net'
import { z } from 'zod'

const PATIENT = { patienceMs: 30_000 }

const Listed = z.array(z.object({ Id: z.string(), Labels: z.record(z.string(), z.string()).nullish() }))

/** Removes this worker's containers of which `isHeld` does not know the attempt; rejects when the engine does not answer. */
export async function removeStrays(
  socket: string | null,
  workerId: string,
  isHeld: (attempt: string) => boolean,
): Promise<void> {
  if (socket === null) return
  const engine = new EngineClient({ kind: 'socket', path: socket })
  const filters = encodeURIComponent(JSON.stringify({ label: [`stoker.worker_id=${workerId}`] }))
  const listed = Listed.parse(await engine.call('GET', `/containers/json?all=1&filters=${filters}`, PATIENT))
  for (const { Id } of listed.filter(({ Labels }) => !isHeld(Labels?.['stoker.attempt'] ?? ''))) {
    await engine.call('DELETE', `/containers/${Id}?force=1&v=1`, PATIENT).catch(error => {
      if (!(error instanceof EngineRefused) || error.status !== 404) throw error
    })
  }
}

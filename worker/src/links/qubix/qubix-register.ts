import { HubAway, type HubCalls, isFine } from '../foreign/hub-calls.ts'
import { NoWayIn } from '../foreign/presence.ts'
import { type Provider, quickRegisterBody } from './qubix-machine.ts'

const REGISTER_MS = 10_000
/** The documented way in is not there: an older one may be. */
const ELSEWHERE: readonly number[] = [301, 404, 410]

/** Registers once, the documented way or the older one. */
export async function register(calls: HubCalls, provider: Provider, body: object, signal: AbortSignal): Promise<void> {
  const post = (path: string, value: object) =>
    calls.send({ method: 'POST', path, json: JSON.stringify(value), timeoutMs: REGISTER_MS, signal })
  const answer = await post('/api/providers/register', body)
  if (isFine(answer.status)) return
  if (!ELSEWHERE.includes(answer.status)) throw new HubAway(`it answered ${answer.status}: ${answer.text}`)
  if (provider.address === null)
    throw new NoWayIn(
      `the backend answered ${answer.status} to register, its quick-register needs the Qubic identity of the owner: --address`,
    )
  const quick = await post('/api/providers/quick-register', quickRegisterBody(provider, provider.address))
  if (!isFine(quick.status)) throw new HubAway(`quick-register answered ${quick.status}: ${quick.text}`)
}

import { type Backoff, retrying } from '@stoker/net'
import { HubAway, type HubCalls, isFine } from '../foreign/hub-calls.ts'
import { type Provider, quickRegisterBody } from './qubix-machine.ts'

const REGISTER_MS = 10_000
/** The documented way in is not there: an older one may be. */
const ELSEWHERE: readonly number[] = [301, 404, 410]

/** No way in is left, whatever one waits for. */
export class NoWayIn extends Error {}

export interface RegisterPorts {
  readonly calls: HubCalls
  readonly provider: Provider
  readonly body: () => unknown
  readonly backoff: Backoff
  readonly random: () => number
  readonly signal: AbortSignal
  readonly failed: (error: Error) => void
}

/** Registers, however long it takes; rejects only when there is no use in going on. */
export async function register(ports: RegisterPorts): Promise<void> {
  const { backoff, random, signal, failed } = ports
  const once = () =>
    registerOnce(ports).catch((error: Error) => {
      if (!(error instanceof NoWayIn) && !signal.aborted) failed(error)
      throw error
    })
  await retrying(once, { ...backoff, random, signal, isTemporary: error => !(error instanceof NoWayIn) })
}

async function registerOnce({ calls, provider, body, signal }: RegisterPorts): Promise<void> {
  const post = (path: string, value: unknown) =>
    calls.send({ method: 'POST', path, json: JSON.stringify(value), timeoutMs: REGISTER_MS, signal })
  const answer = await post('/api/providers/register', body())
  if (isFine(answer.status)) return
  if (!ELSEWHERE.includes(answer.status)) throw new HubAway(`it answered ${answer.status}: ${answer.text}`)
  if (provider.address === null)
    throw new NoWayIn(
      `the backend answered ${answer.status} to register, its quick-register needs the Qubic identity of the owner: --address`,
    )
  const quick = await post('/api/providers/quick-register', quickRegisterBody(provider, provider.address))
  if (!isFine(quick.status)) throw new HubAway(`quick-register answered ${quick.status}: ${quick.text}`)
}

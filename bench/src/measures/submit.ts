import { rateOf } from '../in-flight.ts'
import { PlainHttp } from '../plain-http.ts'
import { race } from '../rounds.ts'
import { ifThere, type Measure } from './ground.ts'

const ONE_BY_ONE = 400
const IN_FLIGHT = 50
const MANY = 6_000

/** Single durable submits to an idle hub, fifty at a time and one at a time, from one Node process for all; the many come first, because V8 compiles what it sees often, and a few hundred single requests are not. */
export const measureSubmits: Measure = async stage => {
  const hub = await stage.hub()
  const bull = stage.bull('submits')
  const http = new PlainHttp(hub.url, hub.token)
  const spec = { type: 'noop' } as const
  try {
    const many = await race(
      [
        { name: 'ours', run: () => rateOf(MANY, IN_FLIGHT, () => http.submit(spec)) },
        { name: 'client', run: () => rateOf(MANY, IN_FLIGHT, () => hub.client.submit(spec)) },
        ...ifThere(bull, 'BullMQ', peer => rateOf(MANY, IN_FLIGHT, () => peer.submit())),
      ],
      { rounds: 9, budgetMs: 7_000, warmUpMs: 3_500 },
    )
    const oneByOne = await race(
      [
        { name: 'ours', run: () => rateOf(ONE_BY_ONE, 1, () => http.submit(spec)) },
        ...ifThere(bull, 'BullMQ', peer => rateOf(ONE_BY_ONE, 1, () => peer.submit())),
      ],
      { rounds: 11, budgetMs: 6_000, warmUpMs: 1_500 },
    )
    const inFlightPeer = { BullMQ: stage.roundsOf('BullMQ', many.get('BullMQ')) }
    return {
      submitOneByOne: {
        ours: oneByOne.get('ours') ?? [],
        peers: { BullMQ: stage.roundsOf('BullMQ', oneByOne.get('BullMQ')) },
      },
      submitInFlight: { ours: many.get('ours') ?? [], peers: inFlightPeer },
      submitByClient: { ours: many.get('client') ?? [], peers: inFlightPeer },
    }
  } finally {
    await http.close()
  }
}

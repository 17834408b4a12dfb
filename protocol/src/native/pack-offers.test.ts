import { expect, it } from 'vitest'
import { parseJobSpec } from '../job-spec.ts'
import { HubMessage, type Offer } from './messages.ts'
import { packOffers, textOfMessage, unpackOffers } from './pack-offers.ts'

function aSpec(name: string): Offer['spec'] {
  const parsed = parseJobSpec({ type: 'noop', name })
  if (!parsed.ok) throw new Error('bad spec')
  return parsed.spec
}

const one = aSpec('one')
const offers: readonly Offer[] = [one, aSpec('two'), one].map((spec, i) => ({
  ...{ fence: { job: i, epoch: 1, attempt: 1 }, id: `${i}`, spec, gpus: [] },
}))

function overTheWire(message: HubMessage) {
  const read = HubMessage.parse(JSON.parse(textOfMessage(message)))
  if (read.t !== 'offers') throw new Error(`offers were sent, ${read.t} came`)
  return read
}

it('says a spec once that several jobs have', () => {
  const sent = overTheWire(packOffers(offers))
  expect(sent.specs).toEqual([offers[0]?.spec, offers[1]?.spec])
  expect(unpackOffers(sent)).toEqual(offers)
})

it('does not say what says nothing', () => {
  expect(JSON.parse(textOfMessage(packOffers(offers))).specs).toEqual([
    { name: 'one', type: 'noop' },
    { name: 'two', type: 'noop' },
  ])
})

it('may also come with every spec in its offer', () => {
  const sent = overTheWire({ t: 'offers', offers: [...offers] })
  expect(unpackOffers(sent)).toEqual(offers)
})

it('is no message when an offer names a spec that is not there', () => {
  const { specs, ...rest } = packOffers(offers)
  expect(HubMessage.safeParse({ ...rest, specs }).success).toBe(true)
  expect(HubMessage.safeParse({ ...rest, specs: specs?.slice(1) }).success).toBe(false)
  expect(HubMessage.safeParse(rest).success).toBe(false)
})

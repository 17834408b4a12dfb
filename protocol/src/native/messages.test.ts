import { describe, expect, it } from 'vitest'
import { goldenContract } from '../golden-contract.ts'
import { HubMessage, WorkerMessage } from './messages.ts'

const GOLDEN = new URL('./golden/', import.meta.url)
const kindsOf = (union: typeof HubMessage | typeof WorkerMessage) => union.options.map(option => option.shape.t.value)

describe('messages of a worker', () => goldenContract(GOLDEN, WorkerMessage, kindsOf(WorkerMessage)))
describe('messages of a hub', () => goldenContract(GOLDEN, HubMessage, kindsOf(HubMessage)))

it('ignores what a newer peer adds', () => {
  expect(HubMessage.parse({ t: 'ack', n: 3, later: true })).toEqual({ t: 'ack', n: 3 })
})

import { expect, it } from 'vitest'
import { RecentKeys } from './recent-keys.ts'

const row = (key: string) => ({ owner: 'ann', key, hash: 'h', firstSeq: 1, count: 1, at: 0 })

it('shows a key to whoever asked the store before its batch was written, however many batches ago', () => {
  const keys = new RecentKeys()
  const read = keys.beginRead()
  keys.remember(row('a'))
  for (let batches = 0; batches < 5; batches += 1) {
    keys.decided()
    keys.written()
  }
  expect(keys.find('ann', 'a')).toEqual(row('a'))
  keys.endRead(read)
  keys.decided()
  keys.written()
  expect(keys.find('ann', 'a')).toBeNull()
})

it('shows the key of a batch that is decided while another is written', () => {
  const keys = new RecentKeys()
  keys.decided()
  keys.remember(row('a'))
  keys.decided()
  keys.written()
  keys.beginRead()
  expect(keys.find('ann', 'a')).toEqual(row('a'))
  keys.written()
  expect(keys.find('ann', 'a')).toEqual(row('a'))
})

it('forgets the keys of a batch that was not written', () => {
  const keys = new RecentKeys()
  keys.remember(row('a'))
  keys.dropped()
  expect(keys.find('ann', 'a')).toBeNull()
})

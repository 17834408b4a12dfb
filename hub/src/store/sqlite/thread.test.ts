import { expect, it } from 'vitest'
import { startThread } from './thread.ts'

it('rejects calls under way and later ones with the reason the thread died of', async () => {
  const thread = startThread({ role: 'reader', file: '/nowhere/at/all/stoker.db', maxPages: null })
  const first = thread.call('jobById', 'x')
  await expect(first).rejects.toThrow(/the store's reader thread failed: .*unable to open database/)
  await expect(thread.call('jobById', 'x')).rejects.toThrow("the store's reader thread failed")
  await thread.close()
})

import { expect, it } from 'vitest'
import { metadataEnv } from './environment.ts'

it('spells input as programs expect it', () => {
  expect(metadataEnv({ 'my key': 'v', ok: true, off: false, none: null, n: 1.5, list: [1, 'a'] })).toEqual({
    METADATA_MY_KEY: 'v',
    METADATA_OK: 'True',
    METADATA_OFF: 'False',
    METADATA_NONE: 'None',
    METADATA_N: '1.5',
    METADATA_LIST: '[1,"a"]',
    TASK_METADATA: '{"my key":"v","ok":true,"off":false,"none":null,"n":1.5,"list":[1,"a"]}',
  })
})

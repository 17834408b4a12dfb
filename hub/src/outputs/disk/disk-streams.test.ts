import { expect } from 'vitest'
import { streamsContract } from '../contract/streams-contract.ts'
import { streamsProperties } from '../contract/streams-properties.ts'
import { checkStreams } from './check-streams.ts'
import { buildDiskHouse } from './disk-house.ts'

streamsContract('disk', () => buildDiskHouse())
streamsContract('disk, with a segment for every append,', () => buildDiskHouse(1))
streamsProperties(
  'disk',
  () => buildDiskHouse(300),
  async house => expect(await checkStreams(house.folder, house.table.allRows())).toEqual([]),
)

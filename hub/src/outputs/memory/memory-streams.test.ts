import { RowTable } from '../contract/row-table.ts'
import { streamsContract } from '../contract/streams-contract.ts'
import { streamsProperties } from '../contract/streams-properties.ts'
import { type MemorySegments, openMemoryStreams } from './memory-streams.ts'

async function build() {
  const table = new RowTable()
  const segments: MemorySegments = new Map()
  return { table, open: async () => openMemoryStreams({ queries: table, segments }), dispose: async () => {} }
}

streamsContract('memory', build)
streamsProperties('memory', build)

import { blobsContract } from '../contract/blobs-contract.ts'
import { emptyContent, openMemoryBlobs } from './memory-blobs.ts'

blobsContract('memory', async () => {
  const content = emptyContent()
  return { open: ports => openMemoryBlobs(ports, content), end: async () => {} }
})

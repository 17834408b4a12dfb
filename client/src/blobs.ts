import { type TransferOptions, type UploadSource, uploadContent } from '@stoker/net'
import { asHubRefused, type ContentPlace, contentSend, MAX_AWAY } from './content.ts'

/** Brings content to the hub under its hash, in pieces that go on after a break; what the hub has is not sent. */
export function uploadBlob(place: ContentPlace, source: UploadSource, options: TransferOptions = {}): Promise<void> {
  const send = contentSend(place, `/api/v1/blobs/${source.sha256}`)
  return asHubRefused(uploadContent(send, source, { maxAway: MAX_AWAY, ...options }))
}

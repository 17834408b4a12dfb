export { type AddressKind, addressKind } from './address-kind.ts'
export { type Backoff, nextDelayMs, type RetryOptions, retrying } from './backoff.ts'
export { Bandwidth } from './content/bandwidth.ts'
export { downloadContent } from './content/download.ts'
export {
  type ContentName,
  ContentRefused,
  type ContentReply,
  type ContentRequest,
  type ContentSend,
} from './content/port.ts'
export { type TransferOptions, type UploadSource, uploadContent } from './content/upload.ts'
export { type EngineAddress, parseEngineAddress } from './engine/address.ts'
export { connectEngine, EngineClient } from './engine/engine.ts'
export { EngineAway, EngineRefused } from './engine/errors.ts'
export { type Frame, FrameSplitter } from './engine/frames.ts'
export { freePort } from './free-port.ts'
export { type Fetched, type GuardedFetchOptions, guardedFetch } from './guarded-fetch.ts'
export { type GuardedFetchCode, GuardedFetchError } from './guarded-fetch-error.ts'
export { guardedPost, type Post } from './guarded-post.ts'
export { guardedSend } from './guarded-send.ts'
export { type Fetcher, joinLine, NODE_FETCH } from './join-line.ts'
export { parsePin, pinOf, WrongPin } from './pin.ts'
export { dialTrusted, type Trust, trustedAgent } from './pinned-tls.ts'
export { hostOf, proxyFor } from './proxy.ts'

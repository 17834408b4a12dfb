import type { Bandwidth, ContentSend } from '@stoker/net'
import type { Fence } from '@stoker/protocol'
import type { InputCache } from './input-cache.ts'

/** What the passage of an attempt needs to bring files in and out; how the hub is reached is the link's affair. */
export interface Transfers {
  readonly contentOf: (fence: Fence, sha256: string) => ContentSend
  readonly cache: InputCache
  readonly bandwidth?: Bandwidth | undefined
}

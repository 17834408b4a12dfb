import { type Fence, fenceKey, type OutputStream } from '@stoker/protocol'
import { Random } from './random.ts'

const PERIOD = 65_521
const pattern = makePattern()

/** What a program prints is a function of its name, so that any stored byte can be checked without having been kept. */
export function outputBytes(fence: Fence, stream: OutputStream, offset: number, length: number): Uint8Array {
  const from = (nameHash(`${fenceKey(fence)}/${stream}`) + offset) % PERIOD
  if (from + length <= pattern.length) return pattern.subarray(from, from + length)
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length; at += PERIOD)
    bytes.set(pattern.subarray(from, from + Math.min(PERIOD, length - at)), at)
  return bytes
}

function makePattern(): Uint8Array {
  const random = new Random(1)
  const once = Uint8Array.from({ length: PERIOD }, () => (random.chance(0.02) ? 10 : random.between(32, 126)))
  const all = new Uint8Array(PERIOD * 4)
  for (let at = 0; at < all.length; at += PERIOD) all.set(once, at)
  return all
}

function nameHash(name: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index += 1) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193) >>> 0
  return hash % PERIOD
}

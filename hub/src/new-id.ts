import { randomFillSync } from 'node:crypto'
import { V7Generator } from 'uuidv7'

/** Random words drawn at once: one call to the system for a thousand ids instead of one each. */
const POOL_WORDS = 4096

const pool = new Uint32Array(POOL_WORDS)
let used = POOL_WORDS

function nextWord(): number {
  if (used === POOL_WORDS) {
    randomFillSync(pool)
    used = 0
  }
  used += 1
  return pool[used - 1] ?? 0
}

const generator = new V7Generator({ nextUint32: nextWord })

const DIGITS = Buffer.from('0123456789abcdef')
const text = Buffer.alloc(36, '-')

/** A UUIDv7; ids of one process grow. */
export function newId(): string {
  return written(generator.generate().bytes)
}

/** In one piece: a text put together from its digits would have to be copied by whoever looks at it first. */
function written(bytes: Readonly<Uint8Array>): string {
  let at = 0
  for (const byte of bytes) {
    if (at === 8 || at === 13 || at === 18 || at === 23) at += 1
    text[at] = DIGITS[byte >>> 4] ?? 0
    text[at + 1] = DIGITS[byte & 15] ?? 0
    at += 2
  }
  return text.toString('latin1')
}

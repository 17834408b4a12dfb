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

/** A UUIDv7; ids of one process grow. */
export function newId(): string {
  return generator.generate().toString()
}

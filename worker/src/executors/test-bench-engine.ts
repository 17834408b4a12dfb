import { IMAGE, type TestEngine } from '../../../tests/harness/engine.ts'
import { containersOf } from '../../../tests/harness/engine-api.ts'
import type { BenchEngine } from './workbench.ts'

/** A test engine as a workbench orders from it, and looks what is left there. */
export function benchEngine({ kind, socket }: TestEngine): BenchEngine {
  const attempts = async () => (await containersOf(socket)).map(({ Labels }) => Labels['stoker.attempt'] ?? '')
  return { kind, socket, image: IMAGE, attempts }
}

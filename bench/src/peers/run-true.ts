import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** What a user of a queue without programs of its own would write, without even keeping the output. */
export async function runTrue(): Promise<number> {
  const [code] = await once(spawn('/bin/true', { stdio: 'ignore' }), 'exit')
  if (code !== 0) throw new Error(`/bin/true should exit with 0, it exited with ${code}`)
  return code
}

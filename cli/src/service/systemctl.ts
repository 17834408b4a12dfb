import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { Failure } from '../failure.ts'

export type Scope = 'system' | 'user'

/** Present is not running: in a container the tools are often there and systemd is not. */
export function systemdRuns(): boolean {
  return existsSync('/run/systemd/system')
}

/** Ends with what systemctl said when it could not. */
export async function systemctl(scope: Scope, ...args: readonly string[]): Promise<void> {
  const all = [...(scope === 'user' ? ['--user'] : []), ...args]
  const child = spawn('systemctl', all, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (code !== 0)
    throw new Failure(`systemctl ${all.join(' ')} should succeed, it ended with ${code}: ${said.trim()}`, {
      code: 'systemd.failed',
    })
}

import { startChild } from './child.ts'

const TOOK = /^took (\d+\.?\d*)$/

/** Runs a program of the bench that measures itself, and answers the milliseconds it found. */
export async function tookOf(
  name: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<number> {
  let took: number | null = null
  const lines: string[] = []
  const child = await startChild({
    name,
    command: process.execPath,
    args: ['--import', 'tsx', ...args],
    ready: /^ready$/,
    env,
    onLine: line => {
      lines.push(line)
      const found = TOOK.exec(line)?.[1]
      if (found !== undefined) took = Number(found)
    },
  })
  await child.ended
  if (took === null) throw new Error(`${name} should say how long it took, it said: ${lines.slice(-5).join(' | ')}`)
  return took
}

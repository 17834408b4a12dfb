import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { cpus, loadavg, totalmem } from 'node:os'
import { promisify } from 'node:util'
import { findProgram } from '../processes/find-program.ts'

const run = promisify(execFile)

export interface Machine {
  readonly cores: number
  readonly cpuModel: string
  readonly memoryGb: number
  readonly system: string
  readonly loadBefore: number
  readonly versions: Readonly<Record<string, string>>
}

/** Without these a figure means nothing a year later. */
export async function describeMachine(path: string): Promise<Machine> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '')
  const [processor] = cpus()
  return {
    cores: cpus().length,
    cpuModel: processor?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 1e9),
    system: /^PRETTY_NAME="?([^"\n]*)/m.exec(release)?.[1] ?? process.platform,
    loadBefore: loadavg()[0] ?? 0,
    versions: {
      node: process.versions.node,
      bullmq: await packageVersion('bullmq'),
      'graphile-worker': await packageVersion('graphile-worker'),
      redis: await programVersion('redis-server', path),
      postgres: await programVersion('postgres', path),
    },
  }
}

async function packageVersion(name: string): Promise<string> {
  const file = new URL(`../../../node_modules/${name}/package.json`, import.meta.url)
  const text = await readFile(file, 'utf8').catch(() => '')
  return /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'unknown'
}

async function programVersion(name: string, path: string): Promise<string> {
  const command = findProgram(name, path)
  if (command === null) return 'none'
  const { stdout } = await run(command, ['--version'])
  return /\d+\.\d+(\.\d+)?/.exec(stdout)?.[0] ?? 'unknown'
}

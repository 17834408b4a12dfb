import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { cpus, loadavg, totalmem } from 'node:os'
import { promisify } from 'node:util'
import { pythonWithCelery } from '../peers/celery.ts'
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

/** Without these a figure means nothing a year later; those of further peers are told where they are measured. */
export async function describeMachine(
  path: string,
  { withOthers }: { readonly withOthers: boolean },
): Promise<Machine> {
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
      ...(withOthers ? await otherVersions(path) : {}),
    },
  }
}

async function otherVersions(path: string): Promise<Readonly<Record<string, string>>> {
  const python = await pythonWithCelery(path)
  return {
    'pg-boss': await packageVersion('pg-boss'),
    beanstalkd: await programVersion('beanstalkd', path, '-v'),
    celery: python === null ? 'none' : await versionSaidBy(python, ['-c', 'import celery; print(celery.__version__)']),
    'task-spooler': await programVersion('tsp', path, '-V'),
    slurm: await programVersion('slurmctld', path, '-V'),
  }
}

async function packageVersion(name: string): Promise<string> {
  const file = new URL(`../../../node_modules/${name}/package.json`, import.meta.url)
  const text = await readFile(file, 'utf8').catch(() => '')
  return /"version":\s*"([^"]+)"/.exec(text)?.[1] ?? 'unknown'
}

async function programVersion(name: string, path: string, option = '--version'): Promise<string> {
  const command = findProgram(name, path)
  return command === null ? 'none' : versionSaidBy(command, [option])
}

async function versionSaidBy(command: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run(command, args)
  return /\d+\.\d+(\.\d+)?/.exec(stdout)?.[0] ?? 'unknown'
}

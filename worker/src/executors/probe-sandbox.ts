import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import type { Executor, Exit, LaunchOrder } from './port.ts'
import { createProcessExecutor } from './process-executor.ts'

const PROOF = 'inside'

/** What sandboxes on this machine can do, and the reason in words either way. */
export interface SandboxProbe {
  readonly works: boolean
  readonly why: string
  readonly internet: boolean
  /** What held the program to its limits. */
  readonly limitsBy: Exit['limitsBy']
}

/** Runs a sandbox, because one that is installed may still be forbidden by the kernel or the container around us. */
export async function probeSandbox(options: {
  readonly python: string
  readonly toolPath?: string | undefined
}): Promise<SandboxProbe> {
  const folder = await mkdtemp(join(tmpdir(), 'stoker-probe-'))
  const executor = createProcessExecutor({ ...options, runtimeDir: join(folder, 'run'), slots: 1 })
  try {
    const { failure, limitsBy } = await tryNetwork(executor, folder, 'none')
    if (failure !== null) return { works: false, why: failure, internet: false, limitsBy }
    const { failure: offline } = await tryNetwork(executor, folder, 'internet')
    const why = offline === null ? 'a sandbox ran, also with user-mode network' : `a sandbox ran; ${offline}`
    return { works: true, why, internet: offline === null, limitsBy }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { works: false, why, internet: false, limitsBy: 'none' }
  } finally {
    await executor.close('kill')
    await removeTree(folder)
  }
}

interface Trial {
  /** Null when the program ran in there; else why not. */
  readonly failure: string | null
  readonly limitsBy: Exit['limitsBy']
}

async function tryNetwork(executor: Executor, root: string, network: 'none' | 'internet'): Promise<Trial> {
  const folder = join(root, network)
  await mkdir(join(folder, 'work'), { recursive: true })
  const execution = await executor.start(probeOrder(folder, network))
  const exit = await execution.ended
  const said = await printedIn(join(folder, 'stdout'))
  await execution.release()
  const { limitsBy } = exit
  if (exit.exitCode === 0 && said === PROOF) return { failure: null, limitsBy }
  const complaint = await printedIn(join(folder, 'stderr'))
  const ending = `the sandbox ended with ${exit.exitCode ?? exit.signal}: ${complaint || 'no message'}`
  return { failure: exit.startError ?? ending, limitsBy }
}

/** A program that was silent has no file. */
async function printedIn(file: string): Promise<string> {
  return existsSync(file) ? (await readFile(file, 'utf8')).trim() : ''
}

function probeOrder(folder: string, network: 'none' | 'internet'): LaunchOrder {
  return {
    key: `probe-${process.pid}-${network}`,
    folder,
    argv: ['/bin/sh', '-c', `echo ${PROOF}`],
    env: { PATH: '/usr/bin:/bin' },
    stdin: null,
    isolation: 'sandbox',
    container: null,
    network,
    deadlineMs: 20_000,
    graceMs: 0,
    outputLimitBytes: 65_536,
    limits: { cpuShare: null, memoryBytes: null, pids: 16, diskBytes: null },
    secrets: null,
    devices: [],
    visiblePaths: [],
  }
}

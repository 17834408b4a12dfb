import { randomUUID } from 'node:crypto'
import { copyFile, mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LineSplitter, namesOnlyPackages, normalRequirements, type Progress } from '@stoker/protocol'
import type { Execution, Executor, Exit, LaunchOrder } from '../executors/port.ts'
import type { BuildMeans } from './build-means.ts'
import type { EnvironmentWish } from './environment-key.ts'
import { InstallProgress } from './install-progress.ts'
import { pipFailure } from './pip-failure.ts'

const INSTALLER = fileURLToPath(new URL('./environment_install.py', import.meta.url))
const GRACE_MS = 2000
/** Compilers fork freely. */
const MAX_PIDS = 4096
const OUTPUT_LIMIT_BYTES = 64e6
const TAIL_BYTES = 64 * 1024

/** Why an environment could not be made: the sentence names the package where it is known. */
export class EnvironmentFailed extends Error {}

export interface Installation extends EnvironmentWish {
  readonly key: string
  /** Empty; what comes of it is in `work/env`, the wheels that others may use in `work/wheels`. */
  readonly folder: string
  /** Where it will be moved to. */
  readonly final: string
  /** Wheels that are here already. */
  readonly wheels: string
}

export interface InstallWatch {
  readonly signal: AbortSignal
  /** So many bytes of pip's words are in the file `stderr` of the folder. */
  readonly onOutput: (bytes: number) => void
  readonly onProgress: (progress: Progress) => void
}

/** What was installed, by name and version. Resolves when nothing of the installation runs any more. */
export async function install(
  installation: Installation,
  means: BuildMeans,
  executor: Executor,
  watch: InstallWatch,
): Promise<readonly string[]> {
  const { folder } = installation
  await prepare(installation)
  const execution = await executor.start(orderOf(installation, means))
  const stop = () => execution.stop('canceled', GRACE_MS)
  watch.signal.addEventListener('abort', stop, { once: true })
  if (watch.signal.aborted) stop()
  try {
    const packages = await follow(execution, watch)
    const exit = await execution.ended
    watch.signal.throwIfAborted()
    if (exit.exitCode === 0 && packages !== null) return packages
    throw new EnvironmentFailed(await reasonOf(exit, folder))
  } finally {
    watch.signal.removeEventListener('abort', stop)
    await execution.release()
  }
}

async function prepare({ requirements, folder, final, wheels }: Installation): Promise<void> {
  const work = join(folder, 'work')
  await mkdir(work, { recursive: true, mode: 0o700 })
  const text = normalRequirements(requirements)
  await copyFile(INSTALLER, join(work, 'install.py'))
  await writeFile(join(work, 'requirements.txt'), `${text}\n`)
  await writeFile(join(work, 'order.json'), JSON.stringify({ final, wheels, plain: namesOnlyPackages(text) }))
}

function orderOf({ key, folder, python, wheels }: Installation, means: BuildMeans): LaunchOrder {
  const home = means.isolation === 'sandbox' ? '/work' : join(folder, 'work')
  const prefix = python.prefix.startsWith('/usr') ? [] : [python.prefix]
  return {
    key: `env-${key}-${randomUUID().slice(0, 8)}`,
    folder,
    argv: [python.path, '-I', '-B', join(home, 'install.py')],
    env: {
      LANG: 'C.UTF-8',
      PATH: [dirname(python.path), '/usr/local/bin', '/usr/bin', '/bin'].join(delimiter),
      HOME: home,
      TMPDIR: join(home, 'tmp'),
      ...means.env,
    },
    stdin: null,
    isolation: means.isolation,
    container: null,
    network: means.network,
    deadlineMs: null,
    graceMs: GRACE_MS,
    outputLimitBytes: OUTPUT_LIMIT_BYTES,
    limits: { cpuShare: 1, memoryBytes: null, pids: MAX_PIDS, diskBytes: null },
    secrets: null,
    devices: [],
    visiblePaths: [...new Set([...means.visiblePaths, ...prefix, wheels])],
  }
}

/** Hears the installer until it has ended; what it said it installed, or null. */
async function follow(execution: Execution, watch: InstallWatch): Promise<readonly string[] | null> {
  const heard = new InstallProgress()
  const lines = new LineSplitter()
  const file = join(execution.folder, 'stdout')
  let read = 0
  let reading: Promise<void> = Promise.resolve()
  const readTo = async (size: number) => {
    if (size <= read) return
    const bytes = await readPart(file, read, size - read)
    read += bytes.length
    for (const { text } of lines.push(bytes)) heard.hear(text)
    watch.onProgress(heard.progress)
  }
  execution.onOutput(({ stdout, stderr }) => {
    watch.onOutput(stderr)
    reading = reading.then(() => readTo(stdout))
  })
  await execution.ended
  watch.onOutput(execution.sizes.stderr)
  await reading
  await readTo(execution.sizes.stdout)
  return heard.packages
}

async function readPart(path: string, offset: number, length: number): Promise<Uint8Array> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

async function reasonOf(exit: Exit, folder: string): Promise<string> {
  if (exit.startError !== null) return `its packages could not be installed: ${exit.startError}`
  if (exit.overDisk === true) return 'its packages could not be installed: the disk of the worker is nearly full'
  if (exit.oom || exit.signal !== null)
    return `its packages could not be installed: pip was killed${exit.oom ? ' for lack of memory' : ` by ${exit.signal}`}`
  const said = await readFile(join(folder, 'stderr'), 'utf8').catch(() => '')
  return pipFailure(said.slice(-TAIL_BYTES))
}

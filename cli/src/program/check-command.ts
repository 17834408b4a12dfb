import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { connectEngine, EngineAway, parseEngineAddress } from '@stoker/net'
import type { Cli } from '../command-table.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { paperOf } from '../output/paper.ts'
import { type OutputOptions, type Printer, printerFor } from '../output/printer.ts'
import type { CheckOptions } from './check-options.ts'
import { checkProgram } from './check-program.ts'
import { checkView, heardText, reportOf } from './check-views.ts'
import type { Launcher } from './launch.ts'
import { containerLauncher } from './launch-container.ts'
import { processLauncher } from './launch-process.ts'
import type { RunKind } from './observation.ts'

/** `stoker program check`: its exit code is 0 only where no mistake was found. */
export async function check(
  words: readonly string[],
  options: CheckOptions & OutputOptions,
  cli: Cli,
): Promise<number> {
  if (words.length === 0 && options.image === undefined)
    throw new Failure('check takes a program behind --, or --image', {
      exitCode: EXIT.usage,
      details: ['stoker program check -- python3 worker.py', 'stoker program check --image my-program:latest'],
    })
  const scratch = await mkdtemp(join(tmpdir(), 'stoker-check-'))
  const left = new AbortController()
  const release = cli.io.onStop(() => left.abort())
  try {
    const launcher = await launcherFor(words, options, cli, scratch)
    return await runCheck(launcher, options, cli, left.signal)
  } finally {
    release()
    await rm(scratch, { recursive: true, force: true })
  }
}

async function runCheck(
  launcher: Launcher,
  options: CheckOptions & OutputOptions,
  { io }: Cli,
  abandoned: AbortSignal,
): Promise<number> {
  const out = printerFor(io, options)
  const paper = paperOf(io, io.stdout)
  const checked = await checkProgram(launcher, {
    input: options.input ?? {},
    env: options.env ?? {},
    modelName: options.model,
    gpuDevice: options.gpu ?? '',
    isSession: options.session === true,
    stops: options.stop,
    limits: { timeoutMs: options.timeout, graceMs: options.grace },
    clock: () => performance.now(),
    onRun: kind => tellRun(kind, launcher, out),
    onHeard: heard => {
      if (out.kind === 'human') io.stdout.write(`${heardText(heard, paper)}\n`)
    },
    abandoned,
  })
  if (abandoned.aborted) return EXIT.left
  const report = reportOf(checked, launcher.title)
  out.show(report, checkView)
  return report.ok ? EXIT.ok : EXIT.error
}

function tellRun(kind: RunKind, { title }: Launcher, out: Printer): void {
  if (kind === 'once') out.note(`run: ${title}`)
  if (kind === 'session') out.note(`session: ${title}`)
  if (kind === 'terminal') out.note('run again with a terminal: all its lines came at once')
  if (kind === 'stop') out.note('run again, to ask it to stop')
}

async function launcherFor(
  words: readonly string[],
  { image, modelPath }: CheckOptions,
  { io }: Cli,
  scratch: string,
): Promise<Launcher> {
  const models = modelPath === undefined ? null : await modelFolder(resolve(io.folder, modelPath), image !== undefined)
  if (image !== undefined) return containerLauncher(await engineOf(io.config.dockerHost), { image, words, models })
  const { inherited } = io.config
  return processLauncher({ words, folder: io.folder, modelPath: models ?? scratch, inherited })
}

const OTHERS_READ = 0o005

async function modelFolder(folder: string, isForNobody: boolean): Promise<string> {
  const found = await stat(folder).catch(() => null)
  if (found === null || !found.isDirectory())
    throw new Failure(`--model-path should be a folder, ${folder} is none`, { exitCode: EXIT.usage })
  if (isForNobody && (found.mode & OTHERS_READ) !== OTHERS_READ)
    throw new Failure(`a program in a container runs as nobody, who may not read ${folder}; try chmod o+rx`, {
      exitCode: EXIT.usage,
    })
  return folder
}

async function engineOf(dockerHost: string | undefined) {
  try {
    return await connectEngine(parseEngineAddress(dockerHost))
  } catch (error) {
    if (error instanceof EngineAway)
      throw new Failure(error.message, { exitCode: EXIT.unreachable, code: 'engine.away', cause: error })
    if (error instanceof RangeError)
      throw new Failure(`DOCKER_HOST: ${error.message}`, { exitCode: EXIT.usage, code: 'engine.address', cause: error })
    throw error
  }
}

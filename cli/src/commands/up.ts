import { join } from 'node:path'
import { createClient } from '@stoker/client'
import { formatDuration, formatSize, type WorkerDetail } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import type { Paper } from '../output/paper.ts'
import { plainText } from '../output/plain-text.ts'
import { type OutputOptions, printerFor, type View } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { checkPort } from '../processes/check-port.ts'
import { type FirstJob, runFirstJob } from '../processes/first-job.ts'
import { type Pair, type PairOptions, startPair } from '../processes/hub-and-worker.ts'
import { LOCAL_CONTEXT, withHubOptions } from '../processes/hub-process.ts'
import { withLogOptions } from '../processes/log-options.ts'
import { withRetentionOptions } from '../processes/retention-options.ts'
import { withWorkerOptions } from '../processes/worker-process.ts'

type UpOptions = PairOptions & OutputOptions

/** A start takes two seconds; after this long something is in its way. */
const SLOW_MS = 10_000

export function define(command: Command, cli: Cli): void {
  withRetentionOptions(withLogOptions(withWorkerOptions(withHubOptions(command, cli.io))))
    .option('--json', 'print one JSON value when both are ready')
    .option('-q, --quiet', 'print only the address')
    .action((options: UpOptions) => up(options, cli))
}

/** Ends when it is told to: a first signal stops both with grace, a second at once. */
async function up(options: UpOptions, { io }: Cli): Promise<void> {
  const tell = (text: string) => io.stderr.write(`stoker: ${text}\n`)
  await checkPort(options.host, options.port)
  const logFolder = join(options.data ?? io.config.dataFolder, 'logs')
  let stop = async () => {}
  let isStopping = false
  let stopped = () => {}
  const end = new Promise<void>(resolve => {
    stopped = resolve
  })
  const release = io.onStop(() => {
    if (!isStopping) tell('stopping: first the worker with its jobs, then the hub; Ctrl-C again stops at once')
    isStopping = true
    void stop().then(stopped)
  })
  const onStarting = (how: () => Promise<void>) => {
    stop = how
  }
  const slow = setTimeout(() => tell(`still starting; what it waits for is in ${logFolder}`), SLOW_MS)
  try {
    const pair = await startPair(options, { io, tell, onStarting })
    const ready = await greet(pair, io.now)
    clearTimeout(slow)
    if (!isStopping) printerFor(io, options).show(outputOf(pair), upView(ready, io.config.command))
    await end
  } catch (error) {
    if (!isStopping) {
      await stop()
      throw error
    }
    await end
  } finally {
    clearTimeout(slow)
    release()
  }
}

interface Ready {
  readonly pair: Pair
  readonly worker: WorkerDetail
  readonly firstJob: FirstJob | null
}

/** Looks at the worker as the hub sees it; on the first start ever a real job shows that all works. */
async function greet(pair: Pair, now: () => number): Promise<Ready> {
  const client = createClient({ url: pair.hub.url, token: pair.token })
  try {
    const worker = await client.worker(pair.worker.id)
    const firstJob = pair.isFirstStart ? await runFirstJob(client, worker, now) : null
    if (firstJob?.state === 'succeeded') await pair.greeted()
    return { pair, worker, firstJob }
  } finally {
    client.close()
  }
}

function outputOf({ hub, dataFolder, tokenFile, worker }: Pair): OutputOf<'up'> {
  return { ...hub, dataFolder, tokenFile, context: LOCAL_CONTEXT, worker }
}

function upView({ pair, worker, firstJob }: Ready, command: string): View<OutputOf<'up'>> {
  return {
    ids: ({ url }) => [url],
    human: ({ url, tokenFile }, paper) => {
      const option = pair.currentContext === LOCAL_CONTEXT ? '' : ` --context ${LOCAL_CONTEXT}`
      const row = (name: string, text: string) => `  ${paper.color.dim(name.padEnd(8))}${text}`
      return [
        paper.color.bold('Stoker is up.'),
        row('hub', `${paper.color.cyan(url)}   API: ${url}/docs`),
        row('worker', plainText(machineText(worker))),
        row('', isolationText(worker, paper)),
        ...(worker.engine === null ? [] : [row('', engineText(worker.engine))]),
        row('token', `${tokenFile}, used as context "${LOCAL_CONTEXT}"`),
        row('logs', pair.logFolder),
        ...firstJobLines(firstJob, paper),
        '',
        'Try in another terminal:',
        `  ${command} run${option} -- python3 -c 'print(6 * 7)'`,
        `  ${command} list${option}`,
        `  ${command} workers${option} ${plainText(worker.name)}`,
        '',
        'Ctrl-C stops both.',
      ].join('\n')
    },
  }
}

function machineText({ name, hardware, maxJobs, gpus }: WorkerDetail): string {
  const simulated = hardware.gpus.some(gpu => gpu.simulated) ? ' (simulated)' : ''
  const gpuText = gpus.total === 0 ? 'no GPU' : `${gpus.total} GPU${gpus.total === 1 ? '' : 's'}${simulated}`
  return `${name}: ${hardware.cores} cores, ${formatSize(hardware.memoryBytes)}, ${gpuText}, up to ${maxJobs} jobs`
}

function isolationText({ abilities }: WorkerDetail, { color }: Paper): string {
  if (!abilities.executors.includes('process')) return color.yellow(plainText(abilities.note ?? 'inline types only'))
  if (abilities.sandbox) return 'programs run in a sandbox, unless a job asks for isolation "none"'
  return color.yellow('programs run unsandboxed here: they can do whatever you can')
}

function engineText({ name, version, images }: NonNullable<WorkerDetail['engine']>): string {
  return `containers run by ${name} ${plainText(version)}, ${images} image${images === 1 ? '' : 's'} here`
}

function firstJobLines(job: FirstJob | null, { color }: Paper): string[] {
  if (job === null) return []
  const said = job.output === '' ? job.state : `${job.state}, it said: ${plainText(job.output)}`
  const text = `First job ${said}  (${formatDuration(job.tookMs)} from submit to end)`
  return ['', job.state === 'succeeded' ? color.green(text) : color.yellow(text)]
}

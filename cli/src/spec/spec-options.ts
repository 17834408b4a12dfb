import { type JobSpecInput, parseDuration } from '@stoker/protocol'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { AFTER_HELP, type After, gatherAfter } from './after.ts'
import { type ContainerOptions, containerFields, withContainerOptions } from './container-options.ts'
import { type ProgramOptions, programFields, withProgramOptions } from './program-options.ts'

export interface SpecOptions extends ContainerOptions, ProgramOptions {
  readonly name?: string
  readonly type?: string
  readonly preset?: string
  readonly gpus?: number
  readonly gpuMemory?: string
  readonly gpuModel?: string
  readonly gpuSharing?: string
  readonly cpus?: number
  readonly memory?: string
  readonly timeout?: string
  readonly priority?: number
  readonly tag?: readonly string[]
  readonly avoidTag?: readonly string[]
  readonly preferTag?: readonly string[]
  readonly excludeWorker?: readonly string[]
  readonly worker?: string
  readonly env?: Readonly<Record<string, string>>
  readonly label?: Readonly<Record<string, string>>
  readonly input?: Readonly<Record<string, unknown>>
  readonly retries?: number
  readonly isolation?: string
  readonly network?: string
  readonly after?: readonly After[]
  readonly hold?: boolean
  readonly files?: readonly string[]
  readonly output?: readonly string[]
  readonly failFast?: boolean
}

/** What can be said about a job on the command line, whenever it starts. */
export function withSpecOptions(command: Command): Command {
  return withProgramOptions(withContainerOptions(command))
    .option('--name <text>', 'what lists call the job')
    .option('--type <type>', 'command, custom_script, echo, noop, or a program that comes along, like mnist_training')
    .option('--preset <name>', 'a preset of the hub, like test-loading/inference')
    .option('--gpus <n>', 'how many GPUs', wholeNumber)
    .option('--gpu-memory <size>', 'memory each GPU must have, like 24GB')
    .option('--gpu-model <text>', 'part of the name of the GPU')
    .addOption(
      new Option('--gpu-sharing <kind>', 'whole GPUs, or --gpu-memory of each').choices(['exclusive', 'shared']),
    )
    .option('--cpus <n>', 'how many CPUs, also 0.5', someNumber)
    .option('--memory <size>', 'main memory, like 16GB')
    .option('--timeout <duration>', 'longest run, like 90s or 2h')
    .option('--priority <n>', '-100 to 100, higher first', wholeNumber)
    .option('--tag <tag>', 'only workers with this tag (repeatable)', gatherText)
    .option('--avoid-tag <tag>', 'no worker with this tag (repeatable)', gatherText)
    .option('--prefer-tag <tag>', 'rather workers with this tag (repeatable)', gatherText)
    .option('--worker <name>', 'only this worker')
    .option('--exclude-worker <name>', 'not this worker (repeatable)', gatherText)
    .option('--env <K=V>', 'a variable of the program (repeatable)', gatherPair)
    .option('--label <K=V>', 'a label for lists (repeatable)', gatherPair)
    .option('--input <K=JSON>', 'an input of the program; what is not JSON is text (repeatable)', gatherInput)
    .option('--retries <n>', 'how often to try again after a failure', wholeNumber)
    .addOption(
      new Option('--isolation <kind>', 'how far the program is kept apart').choices([
        'auto',
        'none',
        'sandbox',
        'container',
      ]),
    )
    .addOption(new Option('--network <kind>', 'what the program can reach').choices(['none', 'internet', 'host']))
    .option('--hold', 'keep the job from starting until it is released')
    .option('--output <glob>', 'files the program leaves that are kept (repeatable)', gatherText)
}

/** And about one that is submitted now. */
export function withSubmitOptions(command: Command): Command {
  return withStartOptions(command).option('--after <job[:how]>', AFTER_HELP, gatherAfter)
}

/** And about one that waits for no other. */
export function withStartOptions(command: Command): Command {
  return withSpecOptions(command)
    .option('--files <PATH[:DEST]>', 'a folder or file to put into the folder of the job (repeatable)', gatherText)
    .option('--fail-fast', 'refuse a job that no known worker can run')
}

/** The command line wins over the file; lists of pairs are joined. What is wrong is found by the hub, with its path. */
export function applySpecOptions(spec: Readonly<Record<string, unknown>>, of: SpecOptions): JobSpecInput {
  const merged = given({
    ...spec,
    ...given({ name: of.name, type: of.type, timeout: of.timeout, priority: of.priority, retries: of.retries }),
    ...containerFields(spec, of),
    ...programFields(spec, of),
    ...given({ isolation: of.isolation, network: of.network, hold: of.hold, preset: of.preset }),
    dependsOn: joined(spec.dependsOn, of.after),
    resources: under(spec.resources, {
      gpus: of.gpus,
      gpuMemory: of.gpuMemory,
      gpuModel: of.gpuModel,
      gpuSharing: of.gpuSharing,
      cpus: of.cpus,
      memory: of.memory,
    }),
    placement: under(spec.placement, { worker: of.worker, exclude: of.excludeWorker, tags: tagsOf(of) }),
    env: under(spec.env, of.env ?? {}),
    labels: under(spec.labels, of.label ?? {}),
    input: under(spec.input, of.input ?? {}),
    outputs:
      of.output === undefined ? spec.outputs : [...(Array.isArray(spec.outputs) ? spec.outputs : []), ...of.output],
  })
  return merged as JobSpecInput
}

/** What is no list is left for the hub to refuse. */
function joined(base: unknown, own: readonly unknown[] | undefined): unknown {
  if (own === undefined || (base !== undefined && !Array.isArray(base))) return base
  return [...(base ?? []), ...own]
}

/** The short form when only required tags are named. */
function tagsOf({ tag, avoidTag, preferTag }: SpecOptions): unknown {
  if (avoidTag === undefined && preferTag === undefined) return tag
  return given({ require: tag, avoid: avoidTag, prefer: preferTag })
}

function under(base: unknown, own: Readonly<Record<string, unknown>>): unknown {
  const added = given(own)
  if (Object.keys(added).length === 0) return base
  return typeof base === 'object' && base !== null ? { ...base, ...added } : added
}

function given(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

export function wholeNumber(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new InvalidArgumentError('It should be a whole number.')
  return Number(text)
}

function someNumber(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It should be a number like 2 or 0.5.')
  return Number(text)
}

export function secondsOf(text: string): number {
  const ms = parseDuration(text)
  if (ms === null || ms < 1000) throw new InvalidArgumentError('It should be a duration of a second or more, like 30d.')
  return Math.round(ms / 1000)
}

export function gatherText(text: string, before: readonly string[] = []): string[] {
  return [...before, text]
}

export function gatherPair(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [key, value] = pairOf(text)
  return { ...before, [key]: value }
}

export function gatherInput(text: string, before: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  const [key, value] = pairOf(text)
  try {
    return { ...before, [key]: JSON.parse(value) }
  } catch {
    return { ...before, [key]: value }
  }
}

function pairOf(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('It should look like KEY=VALUE.')
  return [text.slice(0, at), text.slice(at + 1)]
}

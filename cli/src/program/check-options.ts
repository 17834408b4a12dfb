import { parseDuration } from '@stoker/protocol'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { gatherInput, gatherPair } from '../spec/spec-options.ts'

export interface CheckOptions {
  readonly image?: string
  readonly input?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  readonly session?: boolean
  readonly model: string
  readonly modelPath?: string
  readonly gpu?: string
  readonly timeout: number
  readonly grace: number
  readonly stop: boolean
}

export function withCheckOptions(command: Command): Command {
  return command
    .option('--image <name>', 'run it in a container of this image, without network')
    .option('--session', 'run it as a session: two tasks through stdin, then the end of stdin')
    .option('--input <JSON>', 'its metadata, as an object or as KEY=JSON (repeatable)', objectOrPair)
    .option('--env <K=V>', 'a variable of the program (repeatable)', gatherPair)
    .option('--model <name>', 'MODEL_NAME', 'check')
    .option('--model-path <folder>', 'the model, as MODEL_PATH or, in a container, as /models (an empty folder)')
    .option('--gpu <index>', 'GPU_DEVICE; a container gets no real device')
    .addOption(new Option('--timeout <duration>', 'longest run').argParser(duration).default(300_000, '5m'))
    .addOption(new Option('--grace <duration>', 'time to end when asked to').argParser(duration).default(10_000, '10s'))
    .option('--no-stop', 'do not run it again to ask it to stop')
}

function objectOrPair(text: string, before: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  if (!text.trimStart().startsWith('{')) return gatherInput(text, before)
  try {
    return { ...before, ...(JSON.parse(text) as Record<string, unknown>) }
  } catch (error) {
    throw new InvalidArgumentError(`It should be a JSON object: ${error instanceof Error ? error.message : error}`)
  }
}

function duration(text: string): number {
  const ms = parseDuration(text)
  if (ms === null || ms < 1) throw new InvalidArgumentError('It should be a duration like 90s or 500ms.')
  return ms
}

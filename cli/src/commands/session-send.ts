import type { Client } from '@stoker/client'
import type { Job, NewTask } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { EXIT, exitCodeOfRun } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { followJob } from '../follow/follow-job.ts'
import { examples } from '../output/examples.ts'
import { plainText } from '../output/plain-text.ts'
import { type OutputOptions, type Printer, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { resolveSession, SESSION_HELP } from '../select/resolve-session.ts'
import { gatherInput } from '../spec/spec-options.ts'

type SendOptions = OutputOptions & {
  readonly input?: Readonly<Record<string, unknown>>
  readonly timeout?: string
  readonly name?: string
  readonly detach?: boolean
}

export function defineSend(command: Command, cli: Cli): void {
  withOutput(command.description('give a session a task and show its answer as it comes'))
    .argument('<session>', SESSION_HELP)
    .argument('[text...]', 'sent as the input "prompt"')
    .option('--input <KEY=VALUE>', 'a field of the input, JSON or text (repeatable)', gatherInput)
    .option('--timeout <duration>', 'how long the task may take')
    .option('--name <name>', 'name of the task')
    .option('--detach', 'do not wait for the answer')
    .addHelpText('after', examples(['session send 0f1e2d3c4b5a "tell me a story"'], ['session send @echo --input n=3']))
    .action(async (ref: string, words: string[], options: SendOptions) =>
      cli.exitWith(await send(ref, words, options, cli)),
    )
}

async function send(ref: string, words: readonly string[], options: SendOptions, cli: Cli): Promise<number> {
  const { timeout, name } = options
  const prompt = words.length === 0 ? {} : { prompt: words.join(' ') }
  const input = { ...prompt, ...options.input } as NonNullable<NewTask['input']>
  const task = { input, ...(timeout === undefined ? {} : { timeout }), ...(name === undefined ? {} : { name }) }
  const out = printerFor(cli.io, options)
  return withHub(cli.io, options, async client => {
    const { id } = await client.sendTask(await resolveSession(client, ref), task)
    if (options.detach === true) {
      out.show({ id, exitCode: null, job: null, result: null }, sendView)
      return EXIT.ok
    }
    const job = await followTask(client, id, cli, out)
    const exitCode = exitCodeOfRun(job)
    if (job.state !== 'succeeded') out.note(plainText(`${job.state}: ${job.reason ?? ''}`))
    if (out.kind !== 'human') out.show({ id, exitCode, job, result: (await client.job(id)).result }, sendView)
    return exitCode
  })
}

/** Ctrl-C cancels the task, which ends the program that works on it. */
async function followTask(client: Client, id: string, cli: Cli, out: Printer): Promise<Job> {
  const { io } = cli
  const leave = new AbortController()
  let signals = 0
  const release = io.onStop(() => {
    signals += 1
    if (signals > 1) return leave.abort()
    out.note('\ncanceling the task; Ctrl-C again leaves without waiting for its end')
    void client.cancel(id).catch(error => out.note(`the cancel was not taken: ${String(error)}`))
  })
  const stdout = out.kind === 'human' ? io.stdout : out.kind === 'json' ? io.stderr : null
  const outs = { stdout, stderr: stdout === null ? null : io.stderr, hasStatus: out.kind === 'human' }
  try {
    return await followJob(client, id, io, { ...outs, note: out.note, signal: leave.signal })
  } catch (error) {
    if (!leave.signal.aborted) throw error
    throw new Failure(`left; see the task with: stoker show ${id.slice(-12)}`, { exitCode: EXIT.left })
  } finally {
    release()
  }
}

const sendView: View<OutputOf<'session send'>> = { ids: ({ id }) => [id], human: ({ id }) => id }

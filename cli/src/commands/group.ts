import { parseDuration } from '@stoker/protocol'
import { type Command, InvalidArgumentError } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { exitCodeOfGroup, waitForGroup } from '../follow/wait-group.ts'
import { groupView, submittedView } from '../output/group-views.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'

type WaitOptions = OutputOptions & { readonly timeout?: number }

export function define(command: Command, cli: Cli): void {
  const about = (name: string, text: string) =>
    withOutput(command.command(name).description(text)).argument('<group>', 'id, or its last digits')
  about('show', 'show a group: its jobs by state, and what failed').action((id: string, options: OutputOptions) =>
    withHub(cli.io, options, async client => {
      printerFor(cli.io, options).show(await client.group(id), groupView)
    }),
  )
  about('cancel', 'cancel all its jobs that have not ended').action((id: string, options: OutputOptions) =>
    withHub(cli.io, options, async client => {
      printerFor(cli.io, options).show(await client.cancelGroup(id), canceledView)
    }),
  )
  about('retry', 'submit what failed, timed out or was canceled again, as a new group').action(
    (id: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        printerFor(cli.io, options).show(await client.retryGroup(id), submittedView)
      }),
  )
  about('wait', 'wait until all its jobs have ended')
    .option('--timeout <duration>', 'give up after this time (exit code 124); the jobs go on', durationOf)
    .action(async (id: string, options: WaitOptions) => cli.exitWith(await wait(id, options, cli)))
}

async function wait(id: string, options: WaitOptions, cli: Cli): Promise<number> {
  const { timeout } = options
  const signal = timeout === undefined ? undefined : AbortSignal.timeout(timeout)
  try {
    const group = await withHub(cli.io, options, client => waitForGroup(client, id, signal))
    printerFor(cli.io, options).show(group, groupView)
    return exitCodeOfGroup(group)
  } catch (error) {
    if (signal?.aborted !== true) throw error
    throw new Failure(`the group should end within ${(timeout ?? 0) / 1000} s, it has not`, {
      exitCode: EXIT.timedOut,
      code: 'wait.timed_out',
    })
  }
}

const canceledView: View<OutputOf<'group cancel'>> = {
  ids: ({ group }) => [group.id],
  human: ({ canceled, stopping, group }) => `${group.id}  ${canceled} canceled, ${stopping} being stopped`,
}

function durationOf(text: string): number {
  const ms = parseDuration(text)
  if (ms === null || ms === 0) throw new InvalidArgumentError('It should be a duration like 90s or 10m.')
  return ms
}

import type { Client } from '@stoker/client'
import type { GroupDetail, Submitted } from '@stoker/protocol'
import type { Cli } from '../command-table.ts'
import { EXIT } from '../exit-codes.ts'
import { fetchedText } from '../files/fetched-text.ts'
import { exitCodeOfGroup, waitForGroup } from '../follow/wait-group.ts'
import { groupView } from '../output/group-views.ts'
import type { Printer, View } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'

/** Waits for a group that `run` submitted and brings home what it left; Ctrl-C cancels it, a second one leaves. */
export async function runGroup(
  client: Client,
  { id, name, size }: Submitted['groups'][number],
  cli: Cli,
  out: Printer,
  takeHome: () => Promise<OutputOf<'artifacts get'> | null>,
): Promise<number> {
  const leave = new AbortController()
  let signals = 0
  const release = cli.io.onStop(() => {
    signals += 1
    if (signals > 1) return leave.abort()
    out.note('\ncanceling the group; Ctrl-C again leaves without waiting for its end')
    void client.cancelGroup(id).catch(error => out.note(`the cancel was not taken: ${String(error)}`))
  })
  out.note(`group ${id} of ${size} jobs: ${name}`)
  try {
    const group = await waitForGroup(client, id, leave.signal)
    const exitCode = exitCodeOfGroup(group)
    const outputs = await takeHome()
    out.show({ id, exitCode, job: null, group, ...(outputs === null ? {} : { outputs }) }, groupRunView(group))
    if (out.kind === 'human' && outputs !== null) out.note(fetchedText(outputs))
    return exitCode
  } catch (error) {
    if (!leave.signal.aborted) throw error
    out.note(`left; the group is still being stopped, see it with: stoker group show ${id}`)
    return EXIT.left
  } finally {
    release()
  }
}

function groupRunView(group: GroupDetail): View<OutputOf<'run'>> {
  return { ids: ({ id }) => [id], human: (_, paper) => groupView.human(group, paper) }
}

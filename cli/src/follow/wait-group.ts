import type { Client } from '@stoker/client'
import type { GroupDetail, Job } from '@stoker/protocol'
import { EXIT, type ExitCode } from '../exit-codes.ts'

/** Waits for the end of one live member after the other, newest first: the newest mostly ends last. */
export async function waitForGroup(client: Client, id: string, signal: AbortSignal | undefined): Promise<GroupDetail> {
  for (;;) {
    const group = await client.group(id, signal)
    if (group.endedAt !== null) return group
    const live = await client.jobs({ group: group.id, state: ['waiting', 'queued', 'active'], limit: 1 })
    const [member] = live.jobs
    if (member !== undefined) await endOf(client, member, signal)
  }
}

async function endOf(client: Client, { id }: Job, signal: AbortSignal | undefined): Promise<void> {
  for await (const { event } of client.events(id, { signal })) if (event === 'end') return
}

/** All succeeded, or by what went wrong: a failure before a timeout before a cancel. */
export function exitCodeOfGroup({ counts }: Pick<GroupDetail, 'counts'>): ExitCode {
  if (counts.failed > 0) return EXIT.failed
  if (counts.timed_out > 0) return EXIT.timedOut
  return counts.canceled > 0 ? EXIT.canceled : EXIT.ok
}

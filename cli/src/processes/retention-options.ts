import { parseDuration } from '@stoker/protocol'
import { type Command, InvalidArgumentError } from 'commander'

export interface RetentionOptions {
  readonly keepJobs?: string | undefined
  readonly keepLogs?: string | undefined
  readonly keepArtifacts?: string | undefined
  readonly keepUnusedUploads?: string | undefined
  readonly keepJournal?: string | undefined
}

/** How long a hub keeps what has ended; passed on to it as it is. */
export function withRetentionOptions(command: Command): Command {
  return command
    .option('--keep-jobs <time>', 'how long ended jobs are kept (30d)', duration)
    .option('--keep-logs <time>', 'how long their output is kept, at most as long as they (30d)', duration)
    .option('--keep-artifacts <time>', 'how long what they left is kept, at most as long as they (30d)', duration)
    .option('--keep-unused-uploads <time>', 'how long content that nothing needs is kept (24h)', duration)
    .option('--keep-journal <time>', 'how long the history of changes is kept (30d)', duration)
}

export function retentionArgs(options: RetentionOptions): readonly string[] {
  return [
    ['--keep-jobs', options.keepJobs],
    ['--keep-logs', options.keepLogs],
    ['--keep-artifacts', options.keepArtifacts],
    ['--keep-unused-uploads', options.keepUnusedUploads],
    ['--keep-journal', options.keepJournal],
  ].flatMap(([option, value]) => (option === undefined || value === undefined ? [] : [option, value]))
}

function duration(text: string): string {
  if (parseDuration(text) !== null) return text
  throw new InvalidArgumentError('allowed: a duration like "30d", "12h" or "90m".')
}

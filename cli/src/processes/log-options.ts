import { LOG_FORMATS, LOG_LEVELS } from '@stoker/files'
import { type Command, Option } from 'commander'

export interface LogOptions {
  readonly logFormat?: string | undefined
  readonly logLevel?: string | undefined
}

/** How the processes of hub and worker write their own log. */
export function withLogOptions(command: Command): Command {
  return command
    .addOption(new Option('--log-format <form>', 'how log lines look (text)').choices(LOG_FORMATS))
    .addOption(new Option('--log-level <level>', 'the least that is logged (info)').choices(LOG_LEVELS))
}

export function logArgs({ logFormat, logLevel }: LogOptions): string[] {
  return [
    ...(logFormat === undefined ? [] : ['--log-format', logFormat]),
    ...(logLevel === undefined ? [] : ['--log-level', logLevel]),
  ]
}

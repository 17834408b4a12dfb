import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { defineWish } from './wish-of-jobs.ts'

export function define(command: Command, cli: Cli): void {
  defineWish(command, cli, { verb: 'hold', states: ['waiting', 'queued'], ask: (client, id) => client.hold(id) })
}

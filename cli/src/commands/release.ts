import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { defineWish } from './wish-of-jobs.ts'

export function define(command: Command, cli: Cli): void {
  defineWish(command, cli, { verb: 'release', states: ['waiting'], ask: (client, id) => client.release(id) })
}

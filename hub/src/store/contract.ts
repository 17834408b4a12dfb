import { describe } from 'vitest'
import { contentContract } from './contract/content.ts'
import { groupsContract } from './contract/groups.ts'
import type { OpenStore } from './contract/harness.ts'
import { journalContract } from './contract/journal.ts'
import { queriesContract } from './contract/queries.ts'
import { recoveryContract } from './contract/recovery.ts'
import { sessionsContract } from './contract/sessions.ts'
import { writesContract } from './contract/writes.ts'

/** What every store promises, run against each implementation. */
export function storeContract(name: string, open: OpenStore): void {
  describe(`${name} store`, () => {
    describe('writes', () => writesContract(open))
    describe('recovery', () => recoveryContract(open))
    describe('journal', () => journalContract(open))
    describe('queries', () => queriesContract(open))
    describe('groups, limits and schedules', () => groupsContract(open))
    describe('sessions', () => sessionsContract(open))
    describe('content', () => contentContract(open))
  })
}

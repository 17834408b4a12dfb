import { type Change, JournalBody } from '@stoker/protocol'
import { apply } from '../engine/apply.ts'
import { empty } from '../engine/core.ts'
import { dump } from '../engine/dump.ts'
import { emptyState, type State } from '../engine/state.ts'
import type { JournalRow } from '../store/port.ts'
import { difference } from './difference.ts'

/** Live state rebuilt from the journal alone, to hold against the state rebuilt from rows alone. */
export class Replay {
  readonly state: State = emptyState()
  #broken: string | null = null

  commit(row: JournalRow): void {
    const body = JournalBody.safeParse(JSON.parse(row.body))
    if (body.success) this.take(row, body.data.changes)
    else this.#broken ??= `journal row ${row.n} cannot be read`
  }

  take({ n, hash }: JournalRow, changes: readonly Change[]): void {
    if (this.#broken !== null) return
    try {
      for (const change of changes) apply(this.state, change)
    } catch (error) {
      this.#broken = `journal row ${n} cannot be replayed: ${error instanceof Error ? error.message : String(error)}`
    }
    empty(this.state.dirtyGroups)
    empty(this.state.woken)
    this.state.journal = { n, hash }
  }

  /** Null when both ways lead to the same state. */
  disagreement(recovered: State): string | null {
    if (this.#broken !== null) return this.#broken
    const found = difference(dump(this.state), dump(recovered))
    return found === null ? null : `the journal and the rows lead to two states: ${found}`
  }
}

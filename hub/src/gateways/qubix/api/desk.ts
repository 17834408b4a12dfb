import type { ConsumerContext } from './context.ts'
import { JobTally } from './job-tally.ts'
import { type Provider, providersOf } from './provider-views.ts'
import { RunHistory } from './run-history.ts'

/** What the routes share. */
export class ConsumerDesk {
  readonly context: ConsumerContext
  readonly tally: JobTally
  readonly history: RunHistory

  constructor(context: ConsumerContext) {
    this.context = context
    this.tally = new JobTally(context)
    this.history = new RunHistory(context)
  }

  providers(): Promise<Provider[]> {
    return this.context.engine.read(state => providersOf(this.context, state))
  }

  close(): void {
    this.tally.close()
  }
}

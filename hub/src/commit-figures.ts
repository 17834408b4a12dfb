import { PlainHistogram } from './api/metrics/histogram.ts'
import type { Store } from './store/port.ts'

type Journal = Pick<Store, 'append' | 'journalEnd' | 'idempotency' | 'jobRefs'>

/** How long commits take and how much is in one. */
export class CommitFigures {
  readonly seconds = new PlainHistogram({
    name: 'stoker_commit_seconds',
    help: 'From handing a commit to the store until it is durable',
    buckets: [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.2, 1, 5],
  })
  readonly changes = new PlainHistogram({
    name: 'stoker_commit_rows',
    help: 'Row writes that share a commit',
    buckets: [1, 4, 16, 64, 256, 1024, 4096, 16384],
  })

  /** The same journal, with its appends measured. */
  timed(journal: Journal): Journal {
    return {
      journalEnd: () => journal.journalEnd(),
      idempotency: (owner, key) => journal.idempotency(owner, key),
      jobRefs: ids => journal.jobRefs(ids),
      append: async commit => {
        const since = performance.now()
        await journal.append(commit)
        this.seconds.observe((performance.now() - since) / 1000)
        this.changes.observe(commit.rows.length)
      },
    }
  }
}

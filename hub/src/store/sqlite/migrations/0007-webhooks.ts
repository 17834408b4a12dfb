/** Who wants to be told of ends, and what is still to be told. */
export const WEBHOOKS_0007: readonly string[] = [
  `CREATE TABLE webhook (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, url TEXT NOT NULL, "on" TEXT NOT NULL, labels TEXT NOT NULL,
    secret TEXT NOT NULL, createdAt INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE delivery (
    webhook TEXT NOT NULL, job INTEGER NOT NULL, state TEXT NOT NULL, tries INTEGER NOT NULL, dueAt INTEGER,
    createdAt INTEGER NOT NULL, endedAt INTEGER, status INTEGER, error TEXT, PRIMARY KEY (webhook, job)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX delivery_due ON delivery (webhook, dueAt, job) WHERE dueAt IS NOT NULL`,
]

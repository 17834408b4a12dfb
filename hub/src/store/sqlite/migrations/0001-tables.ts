import { JOB_INDEXES } from './0001-job-indexes.ts'

/** Every table of the first version; columns are named as in the rows, so that a row needs no translation. */
export const TABLES_0001: readonly string[] = [
  /** What recovery and lists look at comes first, so that they never walk through a long spec or result. */
  `CREATE TABLE job (
    seq INTEGER PRIMARY KEY, state TEXT NOT NULL, owner TEXT NOT NULL, bucket INTEGER NOT NULL,
    attempts INTEGER NOT NULL, failures INTEGER NOT NULL, lost INTEGER NOT NULL, dueAt INTEGER, attemptEpoch INTEGER,
    attemptState TEXT, worker TEXT, gpus TEXT, placedAt INTEGER, runningAt INTEGER, cancelBy TEXT, isolation TEXT,
    type TEXT NOT NULL, name TEXT NOT NULL, id TEXT NOT NULL, priority INTEGER NOT NULL, submittedAt INTEGER NOT NULL,
    startedAt INTEGER, endedAt INTEGER, attemptEndedAt INTEGER, outcome TEXT, exitCode INTEGER, signal TEXT,
    retryOf TEXT, labels TEXT, spec TEXT NOT NULL, reason TEXT, error TEXT, note TEXT, usage TEXT, result TEXT
  ) STRICT`,
  `CREATE TABLE attempt (
    job INTEGER NOT NULL, number INTEGER NOT NULL, epoch INTEGER NOT NULL, worker TEXT NOT NULL,
    claimed INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (job, number)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX attempt_claimed ON attempt (job, number) WHERE claimed = 1`,
  `CREATE TABLE bucket (
    id INTEGER PRIMARY KEY, owner TEXT NOT NULL, priority INTEGER NOT NULL, shape TEXT NOT NULL, terms TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE worker (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, owner TEXT NOT NULL, tags TEXT NOT NULL,
    maxJobs INTEGER NOT NULL, "window" INTEGER NOT NULL, cpusMilli INTEGER NOT NULL, memoryMb INTEGER NOT NULL,
    hardware TEXT NOT NULL, abilities TEXT NOT NULL, secretHash TEXT NOT NULL, bootId TEXT NOT NULL,
    registeredAt INTEGER NOT NULL, draining INTEGER NOT NULL, batch INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE token (
    id TEXT PRIMARY KEY, hash TEXT NOT NULL, role TEXT NOT NULL, owner TEXT NOT NULL, label TEXT NOT NULL,
    createdAt INTEGER NOT NULL, expiresAt INTEGER, usedBy TEXT
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE idempotency (
    owner TEXT NOT NULL, "key" TEXT NOT NULL, hash TEXT NOT NULL, firstSeq INTEGER NOT NULL, count INTEGER NOT NULL,
    at INTEGER NOT NULL, PRIMARY KEY (owner, "key")
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX idempotency_at ON idempotency (at)`,
  `CREATE TABLE counter (
    owner TEXT NOT NULL, state TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (owner, state)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE chunk (
    job INTEGER NOT NULL, epoch INTEGER NOT NULL, attempt INTEGER NOT NULL, stream INTEGER NOT NULL,
    "offset" INTEGER NOT NULL, length INTEGER NOT NULL, segment INTEGER NOT NULL, position INTEGER NOT NULL,
    at INTEGER NOT NULL, line INTEGER NOT NULL, PRIMARY KEY (job, epoch, attempt, stream, "offset")
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX chunk_segment ON chunk (segment)`,
  `CREATE TABLE sealed (
    job INTEGER NOT NULL, epoch INTEGER NOT NULL, attempt INTEGER NOT NULL, pack INTEGER NOT NULL,
    position INTEGER NOT NULL, length INTEGER NOT NULL, PRIMARY KEY (job, epoch, attempt)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE label (
    "key" TEXT NOT NULL, value TEXT NOT NULL, job INTEGER NOT NULL, PRIMARY KEY ("key", value, job)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE meta ("key" TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE TABLE journal (
    n INTEGER PRIMARY KEY, at INTEGER NOT NULL, hash TEXT NOT NULL, body TEXT NOT NULL
  ) STRICT`,
  ...JOB_INDEXES,
]

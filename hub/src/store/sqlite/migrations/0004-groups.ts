/** Groups with their counts, owners' limits and schedules. Members of a group are consecutive jobs, so no index on jobs is needed to find them. */
export const GROUPS_0004: readonly string[] = [
  'ALTER TABLE job ADD COLUMN groupId TEXT',
  'ALTER TABLE bucket ADD COLUMN groupId TEXT',
  `CREATE TABLE jobGroup (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, firstSeq INTEGER NOT NULL, size INTEGER NOT NULL,
    maxParallel INTEGER, retryOf TEXT, submittedAt INTEGER NOT NULL, endedAt INTEGER, waiting INTEGER NOT NULL,
    queued INTEGER NOT NULL, active INTEGER NOT NULL, succeeded INTEGER NOT NULL, failed INTEGER NOT NULL,
    canceled INTEGER NOT NULL, timed_out INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  'CREATE INDEX jobGroup_seq ON jobGroup (firstSeq)',
  'CREATE INDEX jobGroup_owner ON jobGroup (owner, firstSeq)',
  'CREATE INDEX jobGroup_id_end ON jobGroup (substr(id, -4))',
  'CREATE INDEX jobGroup_live ON jobGroup (id) WHERE endedAt IS NULL',
  `CREATE TABLE ownerLimits (
    owner TEXT PRIMARY KEY, queued INTEGER, running INTEGER, gpus INTEGER, bytes INTEGER
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE schedule (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, cron TEXT NOT NULL, timezone TEXT NOT NULL,
    overlap TEXT NOT NULL, catchUp TEXT NOT NULL, enabled INTEGER NOT NULL, createdAt INTEGER NOT NULL, nextAt INTEGER,
    runs INTEGER NOT NULL, lastAt INTEGER, lastOutcome TEXT, lastReason TEXT, lastSeq INTEGER, lastJob TEXT,
    lastGroup TEXT, spec TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
]

/** Sessions beside their jobs, and which of them a task was given to. */
export const SESSIONS_0009: readonly string[] = [
  'ALTER TABLE job ADD COLUMN session INTEGER',
  `CREATE TABLE session (
    job INTEGER PRIMARY KEY, id TEXT NOT NULL, owner TEXT NOT NULL, preset TEXT, endsBy TEXT, endedAt INTEGER
  ) STRICT`,
  'CREATE INDEX session_owner ON session (owner, job)',
  'CREATE INDEX session_preset ON session (preset, job)',
  'CREATE INDEX session_live ON session (job) WHERE endedAt IS NULL',
]

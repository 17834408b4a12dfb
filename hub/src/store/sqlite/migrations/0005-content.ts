/** Content, what jobs need of it and what attempts left. Both kinds of reference are found by content, to know when it may go. */
export const CONTENT_0005: readonly string[] = [
  `CREATE TABLE blob (
    owner TEXT NOT NULL, sha256 TEXT NOT NULL, size INTEGER NOT NULL, at INTEGER NOT NULL, usedAt INTEGER NOT NULL,
    PRIMARY KEY (owner, sha256)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX blob_used ON blob (usedAt, owner, sha256)`,
  `CREATE TABLE input (
    job INTEGER NOT NULL, sha256 TEXT NOT NULL, owner TEXT NOT NULL, PRIMARY KEY (job, sha256)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX input_content ON input (sha256, owner)`,
  `CREATE TABLE artifact (
    job INTEGER NOT NULL, attempt INTEGER NOT NULL, path TEXT NOT NULL, owner TEXT NOT NULL, sha256 TEXT NOT NULL,
    size INTEGER NOT NULL, executable INTEGER NOT NULL, PRIMARY KEY (job, attempt, path)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX artifact_content ON artifact (sha256, owner)`,
]

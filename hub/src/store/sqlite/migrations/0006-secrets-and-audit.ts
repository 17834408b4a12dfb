/** Sealed values of secrets, and what people with power did; ids of entries grow with time, so that a list needs no other index. */
export const TABLES_0006: readonly string[] = [
  `CREATE TABLE secret (
    owner TEXT NOT NULL, name TEXT NOT NULL, bytes INTEGER NOT NULL, sealed TEXT NOT NULL, createdAt INTEGER NOT NULL,
    changedAt INTEGER NOT NULL, PRIMARY KEY (owner, name)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE audit (
    id TEXT PRIMARY KEY, at INTEGER NOT NULL, token TEXT NOT NULL, label TEXT NOT NULL, owner TEXT NOT NULL,
    role TEXT NOT NULL, address TEXT NOT NULL, action TEXT NOT NULL, target TEXT NOT NULL, details TEXT NOT NULL,
    status INTEGER
  ) STRICT, WITHOUT ROWID`,
]

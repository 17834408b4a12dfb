/** What fair share remembers of each owner, and the devices that are kept from all jobs. */
export const SCHEDULING_0002: readonly string[] = [
  `CREATE TABLE ownerUse (owner TEXT PRIMARY KEY, average REAL NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE TABLE device (
    uuid TEXT PRIMARY KEY, reason TEXT NOT NULL, quarantinedBy TEXT NOT NULL, quarantinedAt INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
]

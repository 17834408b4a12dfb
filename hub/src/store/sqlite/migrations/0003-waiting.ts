/** Why jobs wait, only while they do: recovery reads both tables whole. */
export const TABLES_0003: readonly string[] = [
  `CREATE TABLE edge (
    job INTEGER NOT NULL, dependency INTEGER NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (job, dependency)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE hold (job INTEGER PRIMARY KEY, "by" TEXT NOT NULL) STRICT`,
]

/**
 * How jobs are found. Each index is paid for at every write of a job, so there is one only for what must be found fast
 * among millions; lists filter the rest on the way. Ends of ids arrive in random order, which costs a page per insert
 * when the index spans the whole table: it is kept in blocks of 4,096 seqs and asked some blocks at a time.
 */
export const JOB_INDEXES: readonly string[] = [
  `CREATE UNIQUE INDEX job_id ON job (id)`,
  `CREATE INDEX job_state ON job (state, seq)`,
  `CREATE INDEX job_owner ON job (owner, seq)`,
  `CREATE INDEX job_id_end ON job (seq >> 12, substr(id, -4))`,
  `CREATE TRIGGER job_seq_is_never_reused AFTER DELETE ON job BEGIN
    INSERT INTO meta ("key", value) VALUES ('last_seq', old.seq)
    ON CONFLICT ("key") DO UPDATE SET value = excluded.value
    WHERE CAST(meta.value AS INTEGER) < CAST(excluded.value AS INTEGER);
  END`,
]

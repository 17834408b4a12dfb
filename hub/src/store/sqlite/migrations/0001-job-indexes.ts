/**
 * How jobs are found. An index whose values arrive in random order costs a page per insert when it spans the whole
 * table; those (`name`, end of the id) are therefore kept in blocks of 4,096 seqs and asked some blocks at a time.
 */
export const JOB_INDEXES: readonly string[] = [
  `CREATE UNIQUE INDEX job_id ON job (id)`,
  `CREATE INDEX job_live ON job (state, seq, bucket, attempts, failures, lost, dueAt, owner)
    WHERE state = 'waiting' OR state = 'queued' OR state = 'active'`,
  `CREATE INDEX job_ended ON job (state, seq)
    WHERE state = 'succeeded' OR state = 'failed' OR state = 'canceled' OR state = 'timed_out'`,
  `CREATE INDEX job_owner ON job (owner, state, seq, type)`,
  `CREATE INDEX job_type ON job (type, seq)`,
  `CREATE INDEX job_worker ON job (worker, seq) WHERE worker IS NOT NULL`,
  `CREATE INDEX job_name ON job (seq >> 12, name)`,
  `CREATE INDEX job_id_end ON job (seq >> 12, substr(id, -4))`,
  `CREATE TRIGGER job_seq_is_never_reused AFTER DELETE ON job BEGIN
    INSERT INTO meta ("key", value) VALUES ('last_seq', old.seq)
    ON CONFLICT ("key") DO UPDATE SET value = excluded.value
    WHERE CAST(meta.value AS INTEGER) < CAST(excluded.value AS INTEGER);
  END`,
]

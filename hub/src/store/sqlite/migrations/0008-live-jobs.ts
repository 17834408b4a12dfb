/** All that a start must know of a queued job is in the index: a million are read from megabytes, not from the whole table. */
export const LIVE_JOBS_0008: readonly string[] = [
  `DROP INDEX job_state`,
  `CREATE INDEX job_state ON job (state, seq, bucket, attempts, failures, lost, dueAt)`,
]

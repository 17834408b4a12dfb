const ID = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\.([1-9]\d{0,8}))?$/

export interface NamedAttempt {
  readonly job: string
  readonly attempt: number
}

/** What a worker knows an attempt by: opaque to it and a folder's name, so a late report of an earlier attempt is told apart. */
export function attemptId(job: string, attempt: number): string {
  return attempt === 1 ? job : `${job}.${attempt}`
}

/** Null for what this hub never gave out. */
export function readAttemptId(text: string): NamedAttempt | null {
  const [, job, attempt] = ID.exec(text) ?? []
  if (job === undefined || attempt === '1') return null
  return { job, attempt: Number(attempt ?? 1) }
}

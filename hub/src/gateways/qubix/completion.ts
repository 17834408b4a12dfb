/** How a job stands to the worker that speaks of it. */
export type Standing =
  /** It has the attempt. */
  | 'mine'
  /** It has the attempt, and could not report its end before. */
  | 'held'
  /** Its attempt is to be stopped. */
  | 'canceled'
  /** It had the attempt, and nobody has taken the job since. */
  | 'lost'
  /** Nobody has the job. */
  | 'queued'
  /** Its attempt is over, or the job is. */
  | 'over'
  /** Others have or had the job. */
  | 'foreign'

/** take: the end is stored. hold: a failure to report waits for the success it may hide. duplicate: nothing changes. refuse: it is not its job. */
export type Verdict = 'take' | 'hold' | 'duplicate' | 'refuse'

const UNREPORTED = 'Failed to report completion:'

/** An old worker whose report got no answer says `failed` two seconds later, also of a job that succeeded. */
function isUnreported(status: string, error: string | null | undefined): boolean {
  return status === 'failed' && error?.startsWith(UNREPORTED) === true
}

export function completionVerdict(
  standing: Standing,
  { status, error }: { readonly status: 'completed' | 'failed'; readonly error?: string | null | undefined },
): Verdict {
  switch (standing) {
    case 'mine':
    case 'lost':
    case 'queued':
      return isUnreported(status, error) ? 'hold' : 'take'
    case 'held':
      return status === 'completed' ? 'take' : 'duplicate'
    case 'canceled':
    case 'over':
      return 'duplicate'
    case 'foreign':
      return 'refuse'
  }
}

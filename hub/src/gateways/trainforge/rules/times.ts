/** A node starts what it is given and says so before it asks again; its report may be slow. */
export const SLOW_REPORT_MS = 2_000
/** A node that calls, but says nothing of an offer for this long, has dropped it. */
export const UNSTARTED_MS = 15_000
/** Nothing heard for this long means gone, if there was a reason to call. */
export const OFFLINE_MS = 90_000
/** After the hub was away, a program that runs has called again within this time: it tries every ten seconds. */
export const CALLS_AGAIN_MS = 30_000
/** A report may be on its way this long after a call that says the job is over. */
export const LOST_REPORT_MS = 10_000
export const LOST_REPORT_CALLS = 2
/** Without a word from the job itself, only its timeout ends the waiting. */
export const WORDLESS_MS = 12 * 3600_000
/** Two check-ins and a margin. */
export const FRESH_CHECK_IN_MS = 25_000
/** A node looks after its programs every ten seconds, and keeps their slots and GPUs until then. */
export const LINGER_MS = 15_000
/** Two workers under one id that were not noticed for so long are one again. */
export const CONFLICT_SHOWN_MS = 600_000
/** Each process of a node asks every five seconds. */
export const FASTEST_POLL_MS = 4_000

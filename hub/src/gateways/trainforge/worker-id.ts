/** Words that stand where an id could stand in the dialect's paths. */
const RESERVED: ReadonlySet<string> = new Set([
  'register',
  'unregister',
  'heartbeat',
  'jobs',
  'job-status',
  'stats',
  'distributed',
  'realtime',
  'strategy',
])
const MAX_LENGTH = 200
const PREFIX = 'trainforge:'
/** The last part is a process id: such a worker never comes back under it. */
const PASSING = /^worker_.+_\d+$/s

/** Why a worker cannot have this id, in a sentence; null if it can. */
export function wrongId(id: unknown): string | null {
  if (typeof id !== 'string') return `worker_id is a text, found ${id === undefined ? 'nothing' : typeof id}`
  if (id === '' || id === '.' || id === '..') return `worker_id "${id}" names nothing; choose another with --worker-id`
  if (id.length > MAX_LENGTH) return `worker_id has ${id.length} characters, at most ${MAX_LENGTH} are allowed`
  if (/[\p{Cc}\p{Surrogate}]/u.test(id)) return 'worker_id has control characters; choose another with --worker-id'
  if (RESERVED.has(id)) return `worker_id "${id}" is a word of the protocol; choose another with --worker-id`
  return null
}

/** What the engine calls the worker: no id of another protocol can be the same. */
export function engineId(id: string): string {
  return PREFIX + id
}

export function isPassing(id: string): boolean {
  return PASSING.test(id)
}

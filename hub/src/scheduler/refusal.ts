/** Every reason for which a job does not start on a worker. `never`: even idle it could not. `notNow`: it could, at another time. */
export const REFUSALS = {
  'worker.other': 'never',
  'worker.excluded': 'never',
  'tags.missing': 'never',
  'tags.avoided': 'never',
  'programs.none': 'never',
  'sessions.none': 'never',
  'python.none': 'never',
  'python.version': 'never',
  'gpus.count': 'never',
  'gpus.kind': 'never',
  'cpus.total': 'never',
  'memory.total': 'never',
  'isolation.unserved': 'never',
  'containers.none': 'never',
  'containers.gpus': 'never',
  'containers.network': 'never',
  'image.forbidden': 'never',
  'image.absent': 'never',
  'mounts.forbidden': 'never',
  'type.unserved': 'never',
  'type.unverified': 'never',
  'foreign.unable': 'never',
  'worker.away': 'notNow',
  'worker.quiet': 'notNow',
  'worker.mistrusted': 'notNow',
  'worker.draining': 'notNow',
  'worker.asks': 'notNow',
  'worker.cooling': 'notNow',
  'worker.reserved': 'notNow',
  'busy.slots': 'notNow',
  'busy.offers': 'notNow',
  'busy.cpus': 'notNow',
  'busy.memory': 'notNow',
  'busy.gpus': 'notNow',
  'gpus.quarantined': 'notNow',
  'gpus.faulty': 'notNow',
  'gpus.foreign': 'notNow',
  'owner.limit': 'notNow',
} as const satisfies Readonly<Record<string, 'never' | 'notNow'>>

export type RefusalCode = keyof typeof REFUSALS

/** The one change of the spec that would end a refusal. */
export interface Cure {
  readonly field: string
  readonly needs: string | number
  readonly has: string | number | null
}

/** Why a job does not start on a worker: a stable code, and a sentence with the two facts that disagree. */
export interface Refusal {
  readonly code: RefusalCode
  readonly text: string
  readonly cure: Cure | null
  /** The job that is in the way, where it is one. */
  readonly job: number | null
}

export function refusal(code: RefusalCode, text: string, cure: Cure | null = null, job: number | null = null): Refusal {
  return { code, text, cure, job }
}

import { isQuiet } from '../engine/liveness.ts'
import type { Now, WorkerState } from '../engine/state.ts'
import { type Refusal, type RefusalCode, refusal } from './refusal.ts'

interface Door {
  readonly code: RefusalCode
  readonly isShut: (worker: WorkerState, now: Now) => boolean
  readonly text: (name: string) => string
}

/** In this order: the first that is shut says most. */
const DOORS: readonly Door[] = [
  { code: 'worker.away', isShut: worker => !worker.connected, text: name => `${name} is not connected` },
  {
    code: 'worker.draining',
    isShut: worker => worker.draining,
    text: name => `${name} is drained and takes no new jobs`,
  },
  {
    code: 'worker.mistrusted',
    isShut: worker => worker.mistrusted,
    text: name => `${name} lost attempts by its silence and was not heard since`,
  },
  {
    code: 'worker.asks',
    isShut: ({ facts, asks }) => facts.dialect !== undefined && asks === 0,
    text: name => `${name} takes jobs only when it asks for them, which it has not done at this moment`,
  },
  { code: 'worker.quiet', isShut: isQuiet, text: name => `${name} was not heard for some seconds` },
]

/** Whether a worker takes new work at all right now. */
export function isOpen(worker: WorkerState, now: Now): boolean {
  return DOORS.every(door => !door.isShut(worker, now))
}

/** Whether a worker had better not get jobs of this bucket for a while: it declined or lost one. */
export function isCooling(worker: WorkerState, bucket: number, now: Now): boolean {
  return worker.coolDown.size > 0 && (worker.coolDown.get(bucket) ?? now.lease) > now.lease
}

export function doorRefusals(worker: WorkerState, bucket: number, now: Now): Refusal[] {
  const { name } = worker.facts
  const shut = DOORS.find(door => door.isShut(worker, now))
  const doors = shut === undefined ? [] : [refusal(shut.code, shut.text(name))]
  if (!isCooling(worker, bucket, now)) return doors
  const seconds = Math.ceil(((worker.coolDown.get(bucket) ?? 0) - now.lease) / 1000)
  return [
    ...doors,
    refusal('worker.cooling', `${name} declined or lost such a job and rests from them for ${seconds} s`),
  ]
}

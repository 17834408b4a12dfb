import type { JobSpecInput } from '@stoker/protocol'
import type { Hub } from './servers/stoker.ts'
import { submitInBatches } from './submit-in-batches.ts'

const SHAPES = 10
/** Of so many jobs one is remembered by its id. */
const EVERY = 1000

/** One of ten shapes in turn: they differ in the memory they ask for. */
export function backlogSpec(index: number, more: JobSpecInput = {}): JobSpecInput {
  return { type: 'noop', resources: { memory: `${1 + (index % SHAPES)}MB` }, ...more }
}

/** Queues so many jobs of ten shapes; answers the ids of some of them, oldest first. */
export async function fillBacklog(hub: Hub, jobs: number, more: JobSpecInput = {}): Promise<string[]> {
  let next = 0
  const ids: string[] = []
  await submitInBatches(jobs, async count => {
    const from = next
    next += count
    const specs = Array.from({ length: count }, (_, i) => backlogSpec(from + i, more))
    const submitted = await hub.client.submitMany(specs)
    ids.push(...submitted.filter((_, i) => i % EVERY === 0).map(({ id }) => id))
  })
  return ids.sort()
}

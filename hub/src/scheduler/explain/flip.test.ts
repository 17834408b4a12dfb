import type { JobSpecInput, StartingChange } from '@stoker/protocol'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hear, setConnected } from '../../engine/liveness.ts'
import { aHello, aJob, TestHouse } from '../../engine/test-house.ts'
import { packed } from '../packed.ts'
import type { Policy } from '../policy.ts'
import { spread } from '../spread.ts'
import { explainJob } from './explain-job.ts'

const TAGS = ['a', 'b']
const job = fc.record({
  cpus: fc.integer({ min: 0, max: 6 }),
  gpus: fc.integer({ min: 0, max: 4 }),
  gpuMemory: fc.constantFrom(undefined, '20GiB', '40GiB'),
  memory: fc.integer({ min: 0, max: 10 }),
  priority: fc.integer({ min: -1, max: 1 }),
  owner: fc.constantFrom('ann', 'bob'),
  require: fc.subarray(TAGS),
  avoid: fc.subarray(TAGS, { maxLength: 1 }),
  exclude: fc.constantFrom([], [], ['w0']),
  isolation: fc.constantFrom('auto', 'sandbox', 'none'),
  hold: fc.constantFrom(false, false, false, true),
})
const worker = fc.record({
  cpus: fc.integer({ min: 1, max: 8 }),
  gpus: fc.integer({ min: 0, max: 4 }),
  maxJobs: fc.integer({ min: 1, max: 6 }),
  tags: fc.subarray(TAGS),
  hasSandbox: fc.boolean(),
  fate: fc.constantFrom('stays', 'stays', 'drained', 'away'),
})
type Spec = typeof job extends fc.Arbitrary<infer T> ? T : never
type Worker = typeof worker extends fc.Arbitrary<infer T> ? T : never

test.each([packed, spread])('what $name names as the change starts the job in the very next plan', policy => {
  const kinds = new Set<string>()
  fc.assert(
    fc.property(
      fc.array(worker, { minLength: 1, maxLength: 4 }),
      fc.array(job, { minLength: 1, maxLength: 25 }),
      fc.constantFrom(null, 0, 1),
      fc.nat(),
      fc.constantFrom(0, 65),
      (workers, specs, limit, pick, seconds) => {
        const build = () => settled(policy, workers, specs, limit, seconds)
        const { house, jobs } = build()
        const waiting = jobs.flatMap(({ seq }, at) =>
          house.state.queued.has(seq) || house.state.waiting.has(seq) ? at : [],
        )
        const at = waiting[pick % Math.max(1, waiting.length)]
        const asked = at === undefined ? undefined : jobs[at]
        if (at === undefined || asked === undefined) return
        const explained = explainJob(house.state, policy, asked.seq, house.now)
        for (const change of explained?.changes ?? []) {
          kinds.add(change.kind)
          const again = build()
          const seq = makeTrue(again.house, change, asked.seq, asked.spec)
          expect(again.house.stateOf(seq), JSON.stringify(change)).toBe('active')
        }
      },
    ),
    { numRuns: 200 },
  )
  expect(kinds.size, [...kinds].join()).toBeGreaterThanOrEqual(4)
})

/** A house in which everything that can start has started; the same again for the same arguments. */
function settled(
  policy: Policy,
  workers: readonly Worker[],
  specs: readonly Spec[],
  limit: number | null,
  seconds: number,
) {
  const house = new TestHouse(policy)
  if (limit !== null)
    house.run({ kind: 'setLimits', owner: 'ann', limits: { queued: null, running: limit, gpus: null, bytes: null } })
  const names = workers.map((_, index) => `w${index}`)
  for (const [index, { hasSandbox, fate: _, ...facts }] of workers.entries()) {
    const { abilities } = aHello('x')
    house.join(aHello(`w${index}`, { ...facts, abilities: { ...abilities, sandbox: hasSandbox } }))
  }
  for (const [index, { fate }] of workers.entries()) {
    if (fate === 'drained') house.run({ kind: 'drain', worker: `w${index}`, on: true })
    if (fate === 'away') setConnected(house.state, `w${index}`, false)
  }
  const jobs = specs.map((given, index) => {
    const spec = specOf(given)
    return { spec, seq: house.submitAs(given.owner, aJob(spec, `job-${index}`)) }
  })
  house.pass(seconds, names)
  house.pass(1, names)
  return { house, jobs }
}

function specOf({
  cpus,
  gpus,
  gpuMemory,
  memory,
  priority,
  require,
  avoid,
  exclude,
  isolation,
  hold,
}: Spec): JobSpecInput {
  return {
    ...{ command: 'x', priority, isolation: isolation as 'auto', hold },
    resources: { cpus, gpus, memory: memory * 1e9, ...(gpus > 0 && gpuMemory !== undefined ? { gpuMemory } : {}) },
    placement: { exclude: [...exclude], tags: { require, avoid: avoid.filter(tag => !require.includes(tag)) } },
  }
}

/** As a person would: by the command, or by submitting the changed spec. */
function makeTrue(house: TestHouse, { kind, edits }: StartingChange, seq: number, spec: JobSpecInput): number {
  const to = edits[0]?.to ?? null
  const owner = house.state.buckets.get(
    (house.state.queued.get(seq) ?? house.state.waiting.get(seq))?.bucket ?? 0,
  )?.owner
  if (kind === 'release') house.run({ kind: 'release', job: seq, by: 'ann' })
  if (kind === 'priority') house.run({ kind: 'setPriority', job: seq, priority: Number(to) })
  if (kind === 'limit')
    house.run({
      kind: 'setLimits',
      owner: owner ?? '',
      limits: { queued: null, running: to === null ? null : Number(to), gpus: null, bytes: null },
    })
  if (kind === 'resume') house.run({ kind: 'drain', worker: String(to), on: false })
  if (kind === 'return') {
    setConnected(house.state, String(to), true)
    hear(house.state, String(to), house.now)
    house.close()
  }
  return kind === 'spec' ? house.submitAs(owner ?? '', aJob(edits.reduce(edited, spec))) : seq
}

function edited(spec: JobSpecInput, { field, to }: StartingChange['edits'][number]): JobSpecInput {
  const copy = structuredClone(spec) as Record<string, unknown>
  const path = field.split('.')
  const last = path.pop() ?? ''
  let at = copy
  for (const key of path) at = at[key] as Record<string, unknown>
  const isList = Array.isArray(at[last])
  if (to === null && !isList) delete at[last]
  else at[last] = isList ? (to === null ? [] : String(to).split(', ')) : to
  return copy as JobSpecInput
}

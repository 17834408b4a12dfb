import type { WaitReason } from '@stoker/protocol'
import type { Refusal } from '../refusal.ts'
import type { WorkerReasons } from './worker-reasons.ts'

const SHOWN_NAMES = 5
const SHOWN_GROUPS = 12

/** A reason as the scheduler knows it: the job in the way by its number. */
export type Reason = Omit<WaitReason, 'job'> & { readonly job: number | null }

interface Group {
  readonly when: Reason['when']
  readonly codes: readonly string[]
  readonly members: { readonly name: string; readonly refusals: readonly Refusal[] }[]
}

/** What keeps a job from all workers, in as few sentences as there are different reasons; the closest first. */
export function groupReasons(found: readonly WorkerReasons[], limit: string | null): Reason[] {
  const groups = new Map<string, Group>()
  const open: string[] = []
  for (const { worker, never, now } of found) {
    const refusals = never.length > 0 ? never : now
    const { name } = worker.facts
    if (refusals.length === 0) open.push(name)
    else put(groups, never.length > 0 ? 'never' : 'notNow', refusals, name)
  }
  const byCloseness = [...groups.values()].sort(
    (a, b) =>
      Number(a.when === 'never') - Number(b.when === 'never') ||
      a.codes.length - b.codes.length ||
      b.members.length - a.members.length,
  )
  const reasons = byCloseness.slice(0, SHOWN_GROUPS).map(reasonOf)
  if (limit === null) return reasons
  return [
    { when: 'notNow', codes: ['owner.limit'], text: limit, workers: shown(open), closest: null, job: null },
    ...reasons,
  ]
}

function put(groups: Map<string, Group>, when: Reason['when'], refusals: readonly Refusal[], name: string): void {
  const codes = refusals.map(({ code }) => code)
  const key = `${when} ${codes.join()}`
  const known = groups.get(key)
  if (known === undefined) groups.set(key, { when, codes, members: [{ name, refusals }] })
  else known.members.push({ name, refusals })
}

function reasonOf({ when, codes, members }: Group): Reason {
  const [first] = members
  const closest = closestOf(members)
  const around = closest.refusals.map(({ text }) => ` ${text} `.split(` ${closest.name} `))
  const isAlike = members.every(one => one.refusals.every(({ text }, at) => isSaid(around[at] ?? [], one.name, text)))
  const isOne = members.length === 1
  return {
    when,
    codes: [...codes],
    text: isAlike && !isOne ? around.map(forAll).join('; ') : closest.refusals.map(({ text }) => text).join('; '),
    workers: shown(members.map(({ name }) => name)),
    closest: isAlike || isOne ? null : closest.name,
    job: first?.refusals.find(({ job }) => job !== null)?.job ?? null,
  }
}

function closestOf(members: Group['members']): Group['members'][number] {
  let best = members[0] ?? { name: '', refusals: [] }
  let most = shareOf(best.refusals)
  for (const one of members) {
    const share = shareOf(one.refusals)
    if (share <= most) continue
    best = one
    most = share
  }
  return best
}

/** How much of what is asked for is there: of two workers with the same reasons, the one with more of it is closer. */
function shareOf(refusals: readonly Refusal[]): number {
  return refusals.reduce(
    (sum, { cure }) => sum + (cure === null ? 0 : amount(cure.has) / Math.max(1, amount(cure.needs))),
    0,
  )
}

function amount(value: string | number | null): number {
  return typeof value === 'number' ? value : Number.parseFloat(value ?? '') || 0
}

/** Whether a sentence is what stands around a name, with another name. */
function isSaid(around: readonly string[], name: string, text: string): boolean {
  return around.join(` ${name} `) === ` ${text} `
}

function forAll(around: readonly string[]): string {
  return around
    .join(' each ')
    .trim()
    .replace(/, this is each$/, ', these are others')
}

function shown(names: readonly string[]): WaitReason['workers'] {
  const first: string[] = []
  for (const name of names) {
    if (first.length === SHOWN_NAMES && name >= (first.at(-1) ?? '')) continue
    first.push(name)
    first.sort()
    first.length = Math.min(first.length, SHOWN_NAMES)
  }
  return { count: names.length, names: first }
}

import { Refused } from '@stoker/protocol'
import type { Edge } from '../edges.ts'

/** Jobs of a batch that wait for each other in a circle would wait for ever. */
export function refuseCycle(edges: readonly (readonly Edge[])[], firstSeq: number): void {
  const within = edges.map(own => own.filter(({ dependency }) => dependency >= firstSeq))
  const left = within.map(own => own.length)
  const dependents = new Map<number, number[]>()
  for (const { job, dependency } of within.flat()) {
    const known = dependents.get(dependency)
    if (known === undefined) dependents.set(dependency, [job])
    else known.push(job)
  }
  const free = left.flatMap((count, index) => (count === 0 ? [firstSeq + index] : []))
  for (const seq of free) {
    for (const job of dependents.get(seq) ?? []) {
      const index = job - firstSeq
      left[index] = (left[index] ?? 0) - 1
      if (left[index] === 0) free.push(job)
    }
  }
  if (free.length === edges.length) return
  throw refusal(circleFrom(left, within, firstSeq).map(seq => seq - firstSeq))
}

/** Every job that is left waits for another one that is: following them ends in a circle. */
function circleFrom(left: readonly number[], within: readonly (readonly Edge[])[], firstSeq: number): number[] {
  const isLeft = (seq: number) => (left[seq - firstSeq] ?? 0) > 0
  const walked: number[] = []
  const places = new Map<number, number>()
  let at = firstSeq + left.findIndex(count => count > 0)
  while (!places.has(at)) {
    places.set(at, walked.length)
    walked.push(at)
    at = within[at - firstSeq]?.find(({ dependency }) => isLeft(dependency))?.dependency ?? at
  }
  return walked.slice(places.get(at))
}

function refusal(circle: readonly number[]): Refused {
  const names = [...circle, circle[0] ?? 0].slice(0, 10).map(index => `jobs[${index}]`)
  const more = circle.length > 9 ? ' and so on' : ''
  const message = `${names.join(' waits for ')}${more}: a circle of ${circle.length} that would wait for ever`
  const errors = circle.slice(0, 100).map(index => ({ path: `jobs[${index}].dependsOn`, message }))
  return new Refused('spec.invalid', message, errors)
}

import type { Containers, JobSpecInput } from '@stoker/protocol'
import { describe, expect, it } from 'vitest'
import { shapeOf } from '../engine/shape-of.ts'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { explainJob } from './explain/explain-job.ts'
import { couldRun, neverRefusals } from './fit.ts'
import { packed } from './packed.ts'

const ENGINE: Containers = {
  engine: 'docker',
  version: '20.10.24',
  gpus: true,
  allowedImages: [],
  allowedMounts: [],
  pulls: true,
  images: ['here:v1'],
}

function aHouse(containers?: Partial<Containers>, note: string | null = null): TestHouse {
  const house = new TestHouse()
  const { abilities } = aHello('x')
  const able = containers === undefined ? {} : { containers: { ...ENGINE, ...containers } }
  house.join(aHello('w', { gpus: 1, abilities: { ...abilities, note, ...able } }))
  return house
}

function refusals(spec: JobSpecInput, house: TestHouse): [string, string][] {
  const worker = house.state.workers.get('w')
  if (worker === undefined) throw new Error('the worker did not join')
  const shape = shapeOf(aJob({ type: 'command', ...spec }).spec)
  expect(couldRun(shape, worker)).toBe(neverRefusals(shape, worker).length === 0)
  return neverRefusals(shape, worker).map(({ code, text }) => [code, text])
}

describe('a container', () => {
  it('fits a worker with an engine, sandbox or not', () => {
    expect(refusals({ image: 'any:v1' }, aHouse({}))).toEqual([])
  })

  it('needs an engine, and hears what is wrong with it', () => {
    expect(refusals({ image: 'a:v1' }, aHouse())).toEqual([
      ['containers.none', 'needs a container engine for image a:v1, w has none'],
    ])
    const [[, text] = []] = refusals({ image: 'a:v1' }, aHouse(undefined, 'no containers: may not use the socket'))
    expect(text).toMatch(/w has none \(no containers: may not use the socket\)$/)
  })

  it('needs an image that the owner of the worker allows', () => {
    const house = aHouse({ allowedImages: ['python:*', 'lab/*'] })
    expect(refusals({ image: 'docker.io/library/python:3' }, house)).toEqual([])
    expect(refusals({ image: 'evil:1' }, house)).toEqual([
      ['image.forbidden', 'needs image evil:1, w allows only python:*, lab/* (its --allow-image)'],
    ])
  })

  it('needs an image that is there when nobody may fetch it', () => {
    expect(refusals({ image: 'here:v1', pull: 'never' }, aHouse({}))).toEqual([])
    expect(refusals({ image: 'far:v1', pull: 'never' }, aHouse({}))).toEqual([
      [
        'image.absent',
        'needs image far:v1, w does not have it and may not fetch it for this job: docker pull or docker load it there',
      ],
    ])
    expect(refusals({ image: 'here:v1' }, aHouse({ pulls: false }))).toEqual([])
    expect(refusals({ image: 'far:v1' }, aHouse({ pulls: false }))).toEqual([
      ['image.absent', 'needs image far:v1, w does not have it and fetches none: docker pull or docker load it there'],
    ])
    expect(refusals({ image: 'here:v1', pull: 'always' }, aHouse({ pulls: false }))).toEqual([
      ['image.absent', 'needs image here:v1 fetched anew, w fetches none'],
    ])
  })

  it('mounts only what the owner of the worker allows', () => {
    const mounts = [{ source: '/data/sets', target: '/sets' }]
    expect(refusals({ image: 'a', mounts }, aHouse({ allowedMounts: ['/data'] }))).toEqual([])
    expect(refusals({ image: 'a', mounts }, aHouse({ allowedMounts: ['/srv'] }))).toEqual([
      ['mounts.forbidden', 'mounts /data/sets, w allows mounts below /srv only'],
    ])
    expect(refusals({ image: 'a', mounts }, aHouse({}))).toEqual([
      ['mounts.forbidden', 'mounts /data/sets, w allows mounts of no folder'],
    ])
  })

  it('gets GPUs only where the engine can give them', () => {
    const spec = { image: 'a', resources: { gpus: 1 } }
    expect(refusals(spec, aHouse({}))).toEqual([])
    expect(refusals(spec, aHouse({ gpus: false }))).toEqual([
      ['containers.gpus', 'needs 1 GPU in a container, w has no GPU runtime'],
    ])
    expect(refusals(spec, aHouse({ gpus: false, engine: 'podman' }))).toEqual([
      ['containers.gpus', 'needs 1 GPU in a container, w runs containers by podman, which gives them none'],
    ])
  })

  it('gets the network of the machine only where its owner allows it', () => {
    expect(refusals({ image: 'a', network: 'internet' }, aHouse({}))).toEqual([])
    expect(refusals({ image: 'a', network: 'host' }, aHouse({}))).toEqual([
      ['containers.network', 'needs network host, w keeps its own network from jobs'],
    ])
  })
})

it('explains a container that waits, and names the change that would start it', () => {
  const house = aHouse({})
  const found = explainJob(
    house.state,
    packed,
    house.submit(aJob({ type: 'command', image: 'far:v1', pull: 'never' })),
    house.now,
  )
  expect(found?.reasons).toMatchObject([{ when: 'never', codes: ['image.absent'] }])
  expect(found?.changes).toMatchObject([
    { text: 'with pull missing instead of never', edits: [{ field: 'pull', to: 'missing' }] },
  ])
})

describe('a worker that has new images', () => {
  it('gets the job that waited for one, without a new connection', () => {
    const house = aHouse({})
    const seq = house.submit(aJob({ type: 'command', image: 'far:v1', pull: 'never' }))
    expect(house.state.active.has(seq)).toBe(false)
    const { abilities } = house.state.workers.get('w')?.facts ?? aHello('x')
    const containers = { ...ENGINE, images: ['here:v1', 'far:v1'] }
    house.run({ kind: 'abilities', worker: 'w', abilities: { ...abilities, containers } })
    expect(house.state.active.has(seq)).toBe(true)
  })

  it('writes nothing when nothing is new', () => {
    const house = aHouse({})
    const { abilities } = house.state.workers.get('w')?.facts ?? aHello('x')
    const before = house.journal.length
    house.run({ kind: 'abilities', worker: 'w', abilities })
    expect(house.journal.slice(before).flatMap(({ changes }) => changes)).toEqual([])
  })
})

it('two workers of one class are told apart by their images where nobody may fetch one', () => {
  const house = aHouse({})
  const { abilities } = house.state.workers.get('w')?.facts ?? aHello('x')
  house.join(aHello('v', { gpus: 1, abilities: { ...abilities, containers: { ...ENGINE, images: ['far:v1'] } } }))
  const [w, v] = [house.state.workers.get('w'), house.state.workers.get('v')]
  expect(v?.classKey).toBe(w?.classKey)
  const seq = house.submit(aJob({ type: 'command', image: 'far:v1', pull: 'never' }))
  expect(house.state.active.get(seq)?.claim.worker).toBe('v')
})

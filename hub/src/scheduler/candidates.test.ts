import { expect, test } from 'vitest'
import { shapeOf } from '../engine/shape-of.ts'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { Candidates } from './candidates.ts'
import { Devices } from './devices.ts'
import { Pool, type RankFor } from './pool.ts'
import { Room } from './room.ts'

const SHAPE = shapeOf(aJob({ resources: { cpus: 1 } }).spec)
const TAGGED = shapeOf(aJob({ resources: { cpus: 1 }, placement: { tags: { prefer: ['near'] } } }).spec)
const EMPTIEST: RankFor = () => byCpus
const byCpus = (room: Room): number => -room.cpuShare

/** Rooms with the given numbers of slots, as many CPUs, all free. */
function rooms(...slots: number[]): Room[] {
  const house = new TestHouse()
  slots.forEach((maxJobs, index) => {
    house.join(aHello(`w${index}`, { maxJobs, cpus: maxJobs, tags: index === 2 ? ['near'] : [] }))
  })
  return [...house.state.workers.values()].map(worker => new Room(worker, new Devices(house.state)))
}

/** Takes the best room again and again, as a pass does, until none is left. */
function takeAll(pool: Pool, shape = SHAPE): string[] {
  const found = new Candidates(pool, shape, room => room.mayHave(shape))
  const order: string[] = []
  for (let room = found.best; room !== undefined; room = found.best) {
    if (!room.mayHave(shape)) found.dropBest()
    else {
      room.take(shape, [])
      pool.taken()
      order.push(room.worker.id)
    }
  }
  return order
}

test('a room that fills falls behind the others, and equals come in the order of the pool', () => {
  expect(takeAll(new Pool(rooms(2, 2, 2), EMPTIEST))).toEqual(['w0', 'w1', 'w2', 'w0', 'w1', 'w2'])
})

test('every free slot of a large pool is found, however often it is ranked again', () => {
  const order = takeAll(new Pool(rooms(...Array.from({ length: 60 }, (_, index) => 1 + (index % 7))), EMPTIEST))
  expect(order).toHaveLength(Array.from({ length: 60 }, (_, index) => 1 + (index % 7)).reduce((sum, n) => sum + n))
})

test('what others took since the rooms were ranked is seen', () => {
  const [first, second] = rooms(4, 4)
  const pool = new Pool(
    [first, second].filter(room => room !== undefined),
    EMPTIEST,
  )
  const found = new Candidates(pool, SHAPE, room => room.mayHave(SHAPE))
  first?.take(SHAPE, [])
  expect(found.best).toBe(second)
})

test('preferred tags come before any score', () => {
  expect(takeAll(new Pool(rooms(2, 2, 2), EMPTIEST), TAGGED).slice(0, 2)).toEqual(['w2', 'w2'])
})

test('a pool is full when no room has a slot left', () => {
  const pool = new Pool(rooms(1, 1), EMPTIEST)
  expect(pool.isFull).toBe(false)
  takeAll(pool)
  expect(pool.isFull).toBe(true)
})

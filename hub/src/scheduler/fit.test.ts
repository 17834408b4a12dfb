import { expect, test } from 'vitest'
import { shapeOf } from '../engine/shape-of.ts'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { FitByClass } from './fit.ts'

const shape = shapeOf(aJob({ resources: { cpus: 4 } }).spec)

function aWorker(cpus: number) {
  const house = new TestHouse()
  house.join(aHello('w0', { cpus }))
  const worker = house.state.workers.get('w0')
  if (worker === undefined) throw new Error('w0 has joined')
  return worker
}

test('what a shape knows of a class of workers outlives the one who asked', () => {
  expect(new FitByClass(shape).with(aWorker(8))).toBe(true)
  const alike = { ...aWorker(8), facts: { ...aWorker(8).facts, cpusMilli: 0 } }
  expect(new FitByClass(shape).with(alike)).toBe(true)
  expect(new FitByClass({ ...shape }).with(alike)).toBe(false)
})

test('a worker with other abilities is of another class, and looked at anew', () => {
  expect(new FitByClass(shape).with(aWorker(2))).toBe(false)
  expect(new FitByClass(shape).with(aWorker(4))).toBe(true)
})

test('a job that waits while many kinds of workers come and go has the right answer for each', () => {
  const fit = new FitByClass(shape)
  const worker = aWorker(8)
  const answers = Array.from({ length: 2_500 }, (_, index) => {
    const facts = { ...worker.facts, cpusMilli: index % 2 === 0 ? 8_000 : 1_000 }
    return fit.with({ ...worker, classKey: `class ${index}`, facts })
  })
  expect(answers.every((fits, index) => fits === (index % 2 === 0))).toBe(true)
})

test('a job that names its worker asks each', () => {
  const named = shapeOf(aJob({ placement: { worker: 'w1' } }).spec)
  const worker = aWorker(2)
  expect(new FitByClass(named).with(worker)).toBe(false)
  expect(new FitByClass(named).with({ ...worker, id: 'w1' })).toBe(true)
})

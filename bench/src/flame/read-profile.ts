import { type Call, type Frame, framesOf, weightOf } from './frame.ts'

/** What a profile of V8 found, ready to be drawn. */
export interface Flame {
  readonly frames: readonly Frame[]
  /** All of it in words: processor time, or memory still held at the end. */
  readonly total: string
}

interface CpuNode {
  readonly id: number
  readonly callFrame: Call['callFrame']
  readonly hitCount: number
  readonly children?: readonly number[]
}

interface CpuProfile {
  readonly nodes: readonly CpuNode[]
  readonly startTime: number
  readonly endTime: number
  readonly samples: readonly number[]
}

interface HeapNode {
  readonly callFrame: Call['callFrame']
  readonly selfSize: number
  readonly children: readonly HeapNode[]
}

const IDLE = '(idle)'

/** A `.cpuprofile`: what the thread did while it did something. */
export function readCpuProfile(text: string): Flame {
  const { nodes, startTime, endTime, samples } = JSON.parse(text) as CpuProfile
  const byId = new Map(nodes.map(node => [node.id, node]))
  const callOf = ({ callFrame, hitCount, children = [] }: CpuNode): Call => ({
    callFrame,
    self: hitCount,
    callees: children.flatMap(id => byId.get(id) ?? []).map(callOf),
  })
  const root = nodes[0]
  const busy = root === undefined ? [] : callOf(root).callees.filter(({ callFrame }) => callFrame.functionName !== IDLE)
  const frames = framesOf(busy)
  const secondsEach = (endTime - startTime) / 1e6 / Math.max(samples.length, 1)
  return { frames, total: `${(weightOf(frames) * secondsEach).toFixed(1)} s of processor time` }
}

/** A `.heapprofile`: who made what was still held when the process ended. */
export function readHeapProfile(text: string): Flame {
  const { head } = JSON.parse(text) as { readonly head: HeapNode }
  const frames = framesOf(callOfHeap(head).callees)
  return { frames, total: `${(weightOf(frames) / 1e6).toFixed(1)} MB held at the end` }
}

function callOfHeap({ callFrame, selfSize, children }: HeapNode): Call {
  return { callFrame, self: selfSize, callees: children.map(callOfHeap) }
}

import { describe, expect, it } from 'vitest'
import { judge, linesOf } from './lines.ts'
import { markdownOf, type Summary, summaryText } from './summary.ts'
import { tableOf } from './table.ts'

describe('a verdict', () => {
  it('is missed below the must, must below the aim, aim from there on', () => {
    const goal = { peer: 'BullMQ', must: 0.75, aim: 1 } as const
    expect([0.74, 0.75, 1].map(value => judge(value, 'higher', goal))).toEqual(['missed', 'must', 'aim'])
  })

  it('turns around where less is better', () => {
    const goal = { peer: null, must: 110, aim: 80 } as const
    expect([111, 110, 80].map(value => judge(value, 'lower', goal))).toEqual(['missed', 'must', 'aim'])
  })

  it('is neither met nor missed without a figure', () => {
    expect(judge(null, 'higher', { peer: 'BullMQ', must: 1, aim: 2 })).toBe('not measured')
  })
})

describe('the lines', () => {
  it('compare medians with each peer of a measure', () => {
    const lines = linesOf({
      submitBulk: { ours: [90, 100, 400], peers: { 'graphile-worker': [50, 50, 50], BullMQ: [20, 25, 30] } },
    })
    expect(lines.map(({ peer, value, verdict }) => ({ peer, value, verdict }))).toEqual([
      { peer: 'graphile-worker', value: 2, verdict: 'must' },
      { peer: 'BullMQ', value: 4, verdict: 'must' },
    ])
  })

  it('say why a peer was not measured', () => {
    const [line] = linesOf({ submitOneByOne: { ours: [1], peers: { BullMQ: { notMeasured: 'no Redis' } } } })
    expect(line).toMatchObject({ verdict: 'not measured', why: 'no Redis', theirs: null, value: null })
  })
})

describe('the report', () => {
  it('is a table with the ratio, the limits and a mark on rounds far apart', () => {
    const table = tableOf(
      linesOf({
        startP50: { ours: [0.5, 0.6, 0.9], peers: { BullMQ: [1.2, 1.2, 1.2] } },
        hubMemory: { ours: [86.9], peers: {} },
      }),
    )
    const [head, , latency, memory] = table.split('\n').map(row => row.split('|').map(cell => cell.trim()))
    expect(head?.[2]).toBe('Stoker')
    expect(latency?.slice(2, 9)).toEqual([
      '0.60 ms (0.50–0.90) ~',
      'BullMQ',
      '1.20 ms (1.20–1.20)',
      '0.50 ×',
      '≤ 1 ×',
      '≤ 0.6 ×',
      'aim',
    ])
    expect(memory?.slice(2, 9)).toEqual(['86.9 MB (86.9–86.9)', '–', '–', '–', '≤ 110 MB', '≤ 80 MB', 'must'])
  })

  it('says in the row how a peer was driven, or why it was not', () => {
    const ours = [1]
    const rows = tableOf(
      linesOf({
        othersBulk: { ours, peers: { 'pg-boss': [2] } },
        othersArray: { ours, peers: { Slurm: { notMeasured: 'no Slurm' } } },
      }),
    )
    expect(rows).toContain('for comparison: insert, PostgreSQL, durable')
    expect(rows).toContain('not measured: no Slurm')
  })

  it('says whether the machine was quiet and what was missed', () => {
    const quiet = aSummary({ lines: linesOf({ sandboxed: { ours: [50], peers: {} } }) })
    expect(summaryText(quiet)).toContain(
      'The machine was quiet.\nMissed: `/bin/true`, each in its own sandbox, 8 at once.',
    )
    expect(summaryText(aSummary({ disturbances: ['others worked'] }))).toContain('DISTURBED')
  })

  it('has date, machine and versions in its page', () => {
    const page = markdownOf(aSummary({}))
    expect(page).toContain('## Measured on 2030-01-02')
    expect(page).toContain(
      '2 cores (Some CPU), 8 GB, Some Linux; node 20.1.0; 4 KiB durable in 0.20 ms p50, 0.40 ms p99',
    )
  })
})

function aSummary(over: Partial<Summary>): Summary {
  return {
    at: '2030-01-02T03:04:05.000Z',
    seconds: 100,
    machine: {
      cores: 2,
      cpuModel: 'Some CPU',
      memoryGb: 8,
      system: 'Some Linux',
      loadBefore: 0,
      versions: { node: '20.1.0' },
    },
    fsync: { p50Ms: 0.2, p99Ms: 0.4 },
    disturbances: [],
    stretches: [],
    notes: [],
    lines: [],
    ...over,
  }
}

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AttemptReport, type JobSpecInput, type Offer, parseJobSpec } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { InlineRun } from './inline-run.ts'
import { Workspaces } from './workspace.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'stoker-inline-'))
})
afterEach(() => rm(root, { recursive: true }))

function anOffer(spec: JobSpecInput): Offer {
  const parsed = parseJobSpec(spec)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return { fence: { job: 1, epoch: 1, attempt: 1 }, id: 'x', spec: parsed.spec, gpus: [] }
}

function running(spec: JobSpecInput) {
  const reports: AttemptReport[] = []
  const sizes: number[] = []
  let over = () => {}
  const ended = new Promise<void>(resolve => {
    over = resolve
  })
  const delivery = {
    report: (told: readonly AttemptReport[]) => reports.push(...told),
    output: (_: unknown, { stdout }: { stdout: number }) => sizes.push(stdout),
    progress: () => {},
    ready: () => {},
  }
  const run = new InlineRun(anOffer(spec), { delivery, workspaces: new Workspaces(root), now: () => 5, ended: over })
  return { run, reports, sizes, ended }
}

it('echo answers at once, in a single report', async () => {
  const { reports, ended } = running({ type: 'echo', input: { a: 1 } })
  await ended
  expect(reports).toMatchObject([{ kind: 'ended', outcome: 'completed', result: { ok: true, echo: { a: 1 } } }])
})

it('noop takes its time, prints its events and ends with its code', async () => {
  const { reports, sizes, ended } = running({
    type: 'noop',
    input: { runMs: 1, exitCode: 3, events: [{ event: 'text', content: 'x' }] },
  })
  await ended
  expect(reports).toMatchObject([
    { kind: 'running' },
    { kind: 'ended', outcome: 'failed', exitCode: 3, error: 'exited with code 3' },
  ])
  const printed = await readFile(join(root, '1-1-1', 'stdout'), 'utf8')
  expect(printed).toBe('{"event":"text","content":"x"}\n')
  expect(sizes).toEqual([printed.length])
})

it('noop fails where it is told to', async () => {
  for (const failAt of ['start', 'end'] as const) {
    const { reports, ended } = running({ type: 'noop', input: { failAt } })
    await ended
    expect(reports.at(-1)).toMatchObject({ outcome: 'failed', error: `noop was told to fail at its ${failAt}` })
  }
})

it('noop is stopped by its timeout and by a cancel, once', async () => {
  const late = running({ type: 'noop', timeout: 0.01, input: { runMs: 60_000 } })
  await late.ended
  expect(late.reports.at(-1)).toMatchObject({ outcome: 'timed_out', error: 'Task timeout exceeded' })
  const canceled = running({ type: 'noop', input: { runMs: 60_000 } })
  canceled.run.stop({ cause: 'canceled', text: 'canceled by ann' })
  canceled.run.stop({ cause: 'shutdown', text: 'too late' })
  await canceled.ended
  expect(canceled.reports.filter(report => report.kind === 'ended')).toMatchObject([
    { outcome: 'canceled', error: 'canceled by ann' },
  ])
})

import type { SimResult } from './run.ts'

export interface SeedRun extends SimResult {
  readonly seed: number
  readonly realMs: number
}

/** What a person wants to know of some runs; each violation comes with the command that replays it. */
export function describeRuns(runs: readonly SeedRun[], flags: string, realMs: number): string {
  const lines = runs.length === 1 ? runs.map(describeRun) : [describeMany(runs, realMs)]
  lines.push(...describeGuesses(runs))
  const broken = runs.filter(run => run.violations.length > 0)
  for (const { seed, violations } of broken) {
    lines.push(...violations.map(text => `VIOLATION of ${text}`), `  replay: stoker sim --seed ${seed} ${flags}`)
  }
  lines.push(broken.length === 0 ? 'no violation' : `${broken.length} of ${runs.length} seeds broke a guarantee`)
  return lines.join('\n')
}

function describeRun(run: SeedRun): string {
  const { jobs, attempts, succeeded, lost, waitMsP50, waitMsP99, utilisation } = run.figures
  const seconds = run.virtualMs / 1000
  return [
    `seed ${run.seed}: ${jobs} jobs, ${succeeded} succeeded, ${attempts} attempts, ${lost} lost, ${run.commits} commits`,
    `virtual time  ${seconds.toFixed(1)} s, ${(jobs / seconds).toFixed(1)} jobs/s`,
    `waits         p50 ${waitMsP50.toFixed(0)} ms, p99 ${waitMsP99.toFixed(0)} ms`,
    `utilisation   ${(utilisation * 100).toFixed(1)} % of slots`,
    `real time     ${run.realMs.toFixed(0)} ms, ${livesPerSecond(jobs, run.realMs)} job lives/s, ${run.steps} steps`,
    `journal       ${run.journalHash}`,
  ].join('\n')
}

function describeMany(runs: readonly SeedRun[], realMs: number): string {
  const sum = (part: (run: SeedRun) => number) => runs.reduce((total, run) => total + part(run), 0)
  const jobs = sum(run => run.figures.jobs)
  return [
    `${runs.length} seeds: ${jobs} jobs, ${sum(run => run.figures.attempts)} attempts, ${sum(run => run.figures.lost)} lost`,
    `virtual time  ${(sum(run => run.virtualMs) / 3_600_000).toFixed(1)} h`,
    `real time     ${realMs.toFixed(0)} ms, ${(realMs / runs.length).toFixed(1)} ms a seed, ${livesPerSecond(jobs, realMs)} job lives/s`,
  ].join('\n')
}

function livesPerSecond(jobs: number, realMs: number): number {
  return Math.round((jobs / realMs) * 1000)
}

/** Each seed counts by the predictions it made. */
function describeGuesses(runs: readonly SeedRun[]): string[] {
  const all = runs.flatMap(({ guesses }) => guesses ?? [])
  if (all.length === 0) return []
  const answered = all.reduce((sum, one) => sum + one.answered, 0)
  const share = (part: (one: (typeof all)[number]) => number): string =>
    ((100 * all.reduce((sum, one) => sum + part(one) * one.answered, 0)) / Math.max(1, answered)).toFixed(0)
  const asked = all.reduce((sum, one) => sum + one.asked, 0)
  return [
    `predictions   ${answered} of ${asked} questions had one; ${share(one => one.byP50)} % started by p50, ${share(one => one.byP90)} % by p90`,
  ]
}

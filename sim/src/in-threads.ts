import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import type { SeedRun } from './report.ts'
import type { SimOptions } from './run.ts'
import { seedRunner } from './seed-runner.ts'

/** Runs seeds side by side in threads of this program's own file, each thread one after the other; the runs come in the order of the seeds. From source, which threads cannot read, all in turn. */
export async function runInThreads(
  program: URL,
  seeds: readonly SimOptions[],
  threads: number,
): Promise<readonly SeedRun[]> {
  if (program.pathname.endsWith('.ts')) return seeds.map(seedRunner(seeds.length))
  const runs: SeedRun[] = []
  const left = seeds.entries()
  await Promise.all(Array.from({ length: Math.min(threads, seeds.length) }, () => work()))
  return runs

  function work(): Promise<void> {
    const thread = new Worker(program, { workerData: seeds.length / threads })
    return new Promise((resolve, reject) => {
      const goOn = () => {
        const next = left.next()
        if (next.done === true) void thread.terminate().then(() => resolve())
        else thread.postMessage(next.value)
      }
      thread.on('error', reject)
      thread.on('message', ([index, run]: readonly [number, SeedRun]) => {
        runs[index] = run
        goOn()
      })
      goOn()
    })
  }
}

/** True in such a thread, which from then on runs what it is given. */
export function serveSeeds(): boolean {
  if (isMainThread) return false
  const runSeed = seedRunner(Number(workerData))
  parentPort?.on('message', ([index, options]: readonly [number, SimOptions]) => {
    parentPort?.postMessage([index, runSeed(options)])
  })
  return true
}

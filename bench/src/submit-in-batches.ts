/** Batches of a thousand, two on their way at once: what a hurried user of any queue would do. */
export async function submitInBatches(jobs: number, submit: (count: number) => Promise<unknown>): Promise<void> {
  const lanes = [0, 1].map(async lane => {
    for (let from = lane * 1000; from < jobs; from += 2000) await submit(Math.min(1000, jobs - from))
  })
  await Promise.all(lanes)
}

/** Jobs per second of submits alone. */
export async function batchRate(jobs: number, submit: (count: number) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await submitInBatches(jobs, submit)
  return (jobs * 1000) / (performance.now() - startedAt)
}

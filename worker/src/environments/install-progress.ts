import { formatSize, type Progress } from '@stoker/protocol'
import { z } from 'zod'

const count = z.number().min(0)
const Step = z.object({
  collected: count,
  name: z.string().max(200).nullable(),
  total: count.nullable(),
  installed: count,
  bytes: count,
})
const Done = z.object({ packages: z.array(z.string().max(200)).max(10_000) })

/** How far an installation is, from the lines its program prints. */
export class InstallProgress {
  #packages: readonly string[] | null = null
  #progress: Progress = { percent: null, operation: 'installing packages', metrics: {} }

  /** What was installed, once it was said. */
  get packages(): readonly string[] | null {
    return this.#packages
  }

  get progress(): Progress {
    return this.#progress
  }

  hear(line: string): void {
    const value = tryJson(line)
    const done = Done.safeParse(value)
    if (done.success) this.#finish(done.data.packages)
    const step = Step.safeParse(value)
    if (step.success) this.#progress = progressOf(step.data)
  }

  /** A quick installation is over before it has said that it begins. */
  #finish(packages: readonly string[]): void {
    const [installed, total] = [packages.length, packages.length]
    this.#packages = packages
    this.#progress = progressOf({ collected: total, name: null, total, installed, bytes: 0 })
  }
}

function progressOf({ collected, name, total, installed, bytes }: z.infer<typeof Step>): Progress {
  const metrics = { collected, installed, bytes, total }
  if (total !== null) {
    const done = Math.min(installed, total)
    return {
      percent: total === 0 ? 100 : Math.floor((100 * done) / total),
      operation: `installing ${done} of ${total} packages`,
      metrics,
    }
  }
  const parts = [`collecting package ${collected}`, name ?? '', bytes === 0 ? '' : formatSize(bytes)]
  const operation = collected === 0 ? 'installing packages' : parts.filter(part => part !== '').join(', ')
  return { percent: null, operation, metrics }
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { ChildProgram } from './child-program.ts'
import type { House } from './house.ts'

const SCRIPT = fileURLToPath(new URL('./qubix_worker.py', import.meta.url))

export interface QubixStart {
  readonly name: string
  readonly backend: string
  readonly variant?: 'simple' | 'enhanced' | undefined
  /** Divides its pauses. */
  readonly speed?: number | undefined
}

/** What an old worker tells of one call or job. */
export interface QubixLine {
  readonly call?: string
  readonly status?: number
  readonly executes?: string
  /** The end of this job got an answer. */
  readonly reported?: string
  readonly as_?: 'completed' | 'failed'
  readonly duplicate?: boolean | null
  readonly error?: string
  readonly ready?: boolean
  readonly gives_up?: boolean
}

/** A stand-in of an old worker, in a process of its own. */
export class QubixWorker {
  readonly program: ChildProgram

  constructor(house: House, { name, backend, variant = 'enhanced', speed = 50 }: QubixStart) {
    const args = ['--backend', backend, '--name', name, '--variant', variant, '--speed', String(speed)]
    // Its scripts lie where the house looks for what is left.
    const env = { TMPDIR: house.path('tmp') }
    this.program = house.program({
      script: SCRIPT,
      interpreter: 'python3',
      args: [...args, '--location', 'Attic'],
      env,
    })
  }

  get lines(): readonly QubixLine[] {
    return this.program.stdout
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line))
  }

  async tells(matches: (line: QubixLine) => boolean): Promise<void> {
    await expect.poll(() => this.lines.some(matches), { interval: 20 }).toBe(true)
  }
}

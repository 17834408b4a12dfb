import type { NotMeasured } from '../goals/goals.ts'
import { rateOf } from '../in-flight.ts'
import type { Ground, Stage } from '../measures/ground.ts'
import { findProgram } from '../processes/find-program.ts'
import { runCommand } from '../processes/run-command.ts'
import { type SlurmPrograms, startSlurm, startSlurmNode } from '../servers/slurm.ts'
import { untilDone } from '../until-done.ts'
import { waitUntil } from '../wait-until.ts'

/** How many commands a hurried user has running at once. */
const COMMANDS_AT_ONCE = 8
const NOT_OVER = new Set(['PENDING', 'CONFIGURING', 'RUNNING', 'COMPLETING'])

/** The peer as its users meet it: one command per job. Without a node its jobs wait for ever. */
export class SlurmPeer {
  readonly #env: Readonly<Record<string, string>>

  private constructor(env: Readonly<Record<string, string>>) {
    this.#env = env
  }

  static async open(
    stage: Stage,
    { path }: Ground,
    { slots, node }: { readonly slots: number; readonly node: boolean },
  ): Promise<SlurmPeer | NotMeasured> {
    const programs = programsOf(path)
    if ('notMeasured' in programs) return programs
    const file = await startSlurm(stage, programs, slots)
    const peer = new SlurmPeer({ PATH: path, SLURM_CONF: file })
    if (node) {
      await startSlurmNode(stage, programs, file)
      await waitUntil('the node of Slurm', async () => /^idle$/m.test(await peer.#run('sinfo', ['-h', '-o', '%T'])))
    }
    return peer
  }

  submit(script: string): Promise<unknown> {
    return this.#run('sbatch', ['-Q', '-o', '/dev/null', '--wrap', script])
  }

  /** What it has for many at once: one script, started so often. */
  submitMany(count: number): Promise<unknown> {
    return this.#run('sbatch', ['-Q', '-o', '/dev/null', `--array=0-${count - 1}`, '--wrap', '/bin/true'])
  }

  /** Answers what the program printed. */
  runAndWait(program: readonly string[]): Promise<string> {
    return this.#run('srun', ['-Q', ...program])
  }

  /** Jobs per second from the first command until the last job is over; one that does not complete is an error. */
  async rateOf(jobs: number): Promise<number> {
    const before = await this.#states()
    const startedAt = performance.now()
    await rateOf(jobs, COMMANDS_AT_ONCE, () => this.submit('/bin/true'))
    await untilDone('jobs of Slurm', jobs, async () => {
      const states = await this.#states()
      const bad = states.find(state => state !== 'COMPLETED' && !NOT_OVER.has(state))
      if (bad !== undefined) throw new Error(`${jobs} jobs of Slurm should complete, one is ${bad}`)
      return states.filter(state => state === 'COMPLETED').length - before.length
    })
    return (jobs * 1000) / (performance.now() - startedAt)
  }

  async #states(): Promise<string[]> {
    const list = await this.#run('squeue', ['-h', '-t', 'all', '-o', '%T'])
    return list.split('\n').filter(state => state !== '')
  }

  #run(command: string, args: readonly string[]): Promise<string> {
    return runCommand(command, args, this.#env)
  }
}

function programsOf(path: string): SlurmPrograms | NotMeasured {
  const [munged, slurmctld, slurmd, python] = ['munged', 'slurmctld', 'slurmd', 'python3'].map(name =>
    findProgram(name, path),
  )
  if (!slurmctld || !slurmd) return { notMeasured: 'Slurm is not installed' }
  if (!munged) return { notMeasured: 'munge, which Slurm needs, is not installed' }
  if (!python) return { notMeasured: 'python3, which holds its node, is not installed' }
  return { munged, slurmctld, slurmd, python }
}

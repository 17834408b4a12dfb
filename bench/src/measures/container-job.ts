import { mkdir } from 'node:fs/promises'
import {
  IMAGE,
  offlineImage,
  startEngine,
  stopEngine,
  type TestEngine,
  whyNoEngine,
} from '../../../tests/harness/engine.ts'
import type { NotMeasured } from '../goals/goals.ts'
import { findProgram } from '../processes/find-program.ts'
import { runCommand } from '../processes/run-command.ts'
import type { Hub } from '../servers/stoker.ts'
import { raceBeside } from './beside.ts'
import type { Measure, Stage } from './ground.ts'

/** Of each round; their mean is its figure. */
const RUNS = 8
const COMMAND = ['true']
const NOTHING_ASKED = ['--rm', '--pull', 'never', '--network', 'none']
/** What our containers have unless a job asks for less. */
const AS_STRICT = [
  ...NOTHING_ASKED,
  '--read-only',
  ...['--tmpfs', '/tmp:rw,noexec,nosuid,nodev,size=64m'],
  ...['--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
  ...['--user', '65534:65534', '--init', '--pids-limit', '201'],
]

/** One container after the other, on an engine of the bench's own: as jobs, and by the engine's own command. */
export const measureContainerJob: Measure = async (stage, { path }) => {
  const docker = findProgram('docker', path)
  const engine = docker === null ? { notMeasured: 'the docker command is not installed' } : await engineOf(stage)
  if (docker === null || 'notMeasured' in engine) {
    const none = engine as NotMeasured
    return { containerJob: { ours: none, peers: { 'docker run': none, 'docker run, as strict': none } } }
  }
  const hub = await stage.hub()
  await stage.worker(hub, 4, { engine: engine.socket })
  const run = (flags: readonly string[]) => () =>
    meanOf(() =>
      runCommand(docker, ['-H', `unix://${engine.socket}`, 'run', ...flags, IMAGE, ...COMMAND], { PATH: path }),
    )
  const containerJob = await raceBeside(() => meanOf(() => job(hub)), {
    'docker run': run(NOTHING_ASKED),
    'docker run, as strict': run(AS_STRICT),
  })
  return { containerJob }
}

async function engineOf(stage: Stage): Promise<TestEngine | NotMeasured> {
  const missing = whyNoEngine('docker')
  if (missing !== null) return { notMeasured: missing }
  const home = stage.folder('e')
  await mkdir(home)
  const engine = await startEngine('docker', `${home}/docker`, await offlineImage(home))
  stage.atEnd(() => stopEngine(engine))
  return engine
}

async function job({ client }: Hub): Promise<void> {
  const { id } = await client.submit({ command: COMMAND, image: IMAGE, pull: 'never', resources: { cpus: 0 } })
  for await (const event of client.events(id)) {
    if (event.event !== 'end') continue
    if (event.job.state !== 'succeeded')
      throw new Error(`a container job should succeed, it ${event.job.state}: ${event.job.reason}`)
    return
  }
}

async function meanOf(act: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  for (let i = 0; i < RUNS; i += 1) await act()
  return (performance.now() - startedAt) / RUNS
}

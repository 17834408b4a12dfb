import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SlurmPeer } from '../peers/slurm.ts'
import { TaskSpooler } from '../peers/task-spooler.ts'
import { waitUntil } from '../wait-until.ts'
import { fineWallClock } from '../wall-clock.ts'
import { opened, raceWaits, turn } from './beside.ts'
import type { Measure } from './ground.ts'

const SLOTS = 8
/** Slurm takes a third of a second for each. */
const SAMPLES = { ours: 25, spooler: 25, slurm: 8 }

/** From the submit on an idle machine to what `date` says as the program: the houses themselves note whole seconds. */
export const measurePeersProgramStart: Measure = async (stage, ground) => {
  const hub = await stage.hub()
  await stage.worker(hub, SLOTS)
  const spooler = await opened(TaskSpooler.open(stage, ground), peer => peer.startServer(SLOTS))
  const slurm = await opened(SlurmPeer.open(stage, ground, { slots: SLOTS, node: true }))
  const folder = stage.folder('p')
  await mkdir(folder)
  const file = join(folder, 'stamp')
  const script = `date +%s%N > ${file}.new && mv ${file}.new ${file}`
  const program = ['/bin/sh', '-c', script]
  const ours = () => hub.client.submit({ command: program, isolation: 'none', resources: { cpus: 0 } })
  const { p50, p99 } = await raceWaits(() => waitsFor(SAMPLES.ours, file, ours), {
    'task-spooler': turn(spooler, peer => waitsFor(SAMPLES.spooler, file, () => peer.submit(program))),
    Slurm: turn(slurm, peer => waitsFor(SAMPLES.slurm, file, () => peer.submit(script))),
    'Slurm srun': turn(slurm, peer => waitsFor(SAMPLES.slurm, file, () => peer.runAndWait(program))),
  })
  return { othersProgramP50: p50, othersProgramP99: p99 }
}

/** One after the other, each on a machine that has nothing else to do. */
async function waitsFor(samples: number, file: string, submit: () => Promise<unknown>): Promise<number[]> {
  const now = fineWallClock()
  const waits: number[] = []
  for (let i = 0; i < samples; i += 1) {
    const at = now()
    await submit()
    let nanoseconds = ''
    await waitUntil('the word of a program', async () => {
      nanoseconds = await readFile(file, 'utf8').catch(() => '')
      return nanoseconds !== ''
    })
    waits.push(Number(nanoseconds) / 1e6 - at)
    await rm(file)
  }
  return waits
}

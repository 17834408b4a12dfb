import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@stoker/net'
import type { Stage } from '../measures/ground.ts'
import { startChild } from '../processes/child.ts'
import { startTree } from '../processes/tree.ts'

export interface SlurmPrograms {
  readonly munged: string
  readonly slurmctld: string
  readonly slurmd: string
  readonly python: string
}

/** A cluster of one machine in a folder of its own; answers the configuration its commands need. */
export async function startSlurm(stage: Stage, programs: SlurmPrograms, slots: number): Promise<string> {
  const folder = stage.folder('s')
  for (const path of [folder, join(folder, 'state'), join(folder, 'spool')]) await mkdir(path, { mode: 0o711 })
  await startMunge(stage, programs.munged, folder)
  const file = join(folder, 'slurm.conf')
  await writeFile(file, await configOf(folder, slots))
  const name = 'slurmctld'
  const args = ['-D', '-f', file]
  await stage.keep(startChild({ name, command: programs.slurmctld, args, ready: /Running as primary controller/ }))
  return file
}

/** Starts jobs; those it starts are left to nobody, hence the tree. */
export async function startSlurmNode(stage: Stage, programs: SlurmPrograms, file: string): Promise<void> {
  const options = { name: 'slurmd', command: programs.slurmd, args: ['-D', '-f', file], ready: /slurmd started on/ }
  await stage.keep(startTree(programs.python, options))
}

async function startMunge(stage: Stage, command: string, folder: string): Promise<void> {
  const key = join(folder, 'munge.key')
  await writeFile(key, randomBytes(64), { mode: 0o600 })
  const files = { 'pid-file': 'munge.pid', 'log-file': 'munge.log', 'seed-file': 'munge.seed', socket: 'munge.socket' }
  const args = Object.entries(files).map(([option, name]) => `--${option}=${join(folder, name)}`)
  const started = startChild({
    name: 'munged',
    command,
    args: ['-F', `--key-file=${key}`, ...args],
    ready: /Created \d+ work threads/,
  })
  await stage.keep(started)
}

/** Slurm's defaults batch their decisions for seconds; these are its own settings for short jobs. */
async function configOf(folder: string, slots: number): Promise<string> {
  const host = hostname().split('.')[0]
  const user = userInfo().username
  const settings = {
    ClusterName: 'bench',
    SlurmctldHost: `${host}(127.0.0.1)`,
    SlurmctldPort: await freePort(),
    SlurmdPort: await freePort(),
    SlurmUser: user,
    SlurmdUser: user,
    AuthType: 'auth/munge',
    AuthInfo: `socket=${join(folder, 'munge.socket')}`,
    StateSaveLocation: join(folder, 'state'),
    SlurmdSpoolDir: join(folder, 'spool'),
    SlurmctldPidFile: join(folder, 'slurmctld.pid'),
    SlurmdPidFile: join(folder, 'slurmd.pid'),
    ProctrackType: 'proctrack/linuxproc',
    TaskPlugin: 'task/none',
    MpiDefault: 'none',
    MailProg: '/bin/true',
    ReturnToService: 2,
    SelectType: 'select/cons_tres',
    SelectTypeParameters: 'CR_CPU',
    SlurmdParameters: 'config_overrides',
    SchedulerParameters: 'batch_sched_delay=0,sched_interval=1',
    MaxJobCount: 100_000,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  const node = `NodeName=${host} NodeAddr=127.0.0.1 CPUs=${slots} State=UNKNOWN`
  return [...lines, node, 'PartitionName=bench Nodes=ALL Default=YES MaxTime=INFINITE State=UP', ''].join('\n')
}

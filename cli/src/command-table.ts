import type { Command } from 'commander'
import type { Io } from './io.ts'

/** What a command file gets: its own commander command to fill, the world, and where to leave its exit code. */
export interface Cli {
  readonly io: Io
  readonly argv: readonly string[]
  readonly exitWith: (code: number) => void
  readonly commands: readonly CommandEntry[]
}

interface CommandFile {
  readonly define: (command: Command, cli: Cli) => void
}

export interface CommandEntry {
  readonly name: string
  readonly group: string
  readonly summary: string
  readonly load: () => Promise<CommandFile>
  /** Left out of the help: not for people. */
  readonly isHidden: boolean
}

const START = 'Start:'
const JOBS = 'Jobs:'
const FLEET = 'Workers and access:'
const CARE = 'Data and proof:'
const ABOUT = 'About:'

/** Every command in the order of the help; a file is loaded only when its command is used. */
export const COMMANDS: readonly CommandEntry[] = [
  entry(START, 'up', 'start a hub and a worker on this machine', () => import('./commands/up.ts')),
  entry(START, 'hub', 'start a hub', () => import('./commands/hub.ts')),
  entry(START, 'worker', 'start a worker that takes jobs from a hub', () => import('./commands/worker.ts')),
  entry(JOBS, 'run', 'run a program as a job and follow it', () => import('./commands/run.ts')),
  entry(JOBS, 'submit', 'submit jobs from files and go on', () => import('./commands/submit.ts')),
  entry(JOBS, 'init', 'write the files of a new project', () => import('./commands/init.ts')),
  entry(JOBS, 'push', 'send the project in this folder and run it', () => import('./commands/push.ts')),
  entry(JOBS, 'list', 'list jobs, newest first', () => import('./commands/list.ts')),
  entry(JOBS, 'show', 'show one job with its attempts', () => import('./commands/show.ts')),
  entry(JOBS, 'status', 'show the newest jobs, or one with the end of its log', () => import('./commands/status.ts')),
  entry(JOBS, 'explain', 'say why a job waits, and what would start it', () => import('./commands/explain.ts')),
  entry(JOBS, 'logs', 'print what a job wrote', () => import('./commands/logs.ts')),
  entry(JOBS, 'artifacts', 'list and fetch the files a job left', () => import('./commands/artifacts.ts')),
  entry(JOBS, 'results', 'fetch the files a job left: artifacts get', () => import('./commands/results.ts')),
  entry(JOBS, 'wait', 'wait until jobs have ended', () => import('./commands/wait.ts')),
  entry(JOBS, 'cancel', 'cancel jobs', () => import('./commands/cancel.ts')),
  entry(JOBS, 'hold', 'keep jobs that have not started from starting', () => import('./commands/hold.ts')),
  entry(JOBS, 'release', 'let held jobs go on', () => import('./commands/release.ts')),
  entry(JOBS, 'priority', 'change the priority of a job that has not started', () => import('./commands/priority.ts')),
  entry(JOBS, 'retry', 'submit ended jobs again', () => import('./commands/retry.ts')),
  entry(JOBS, 'groups', 'list groups: arrays and sweeps', () => import('./commands/groups.ts')),
  entry(JOBS, 'group', 'show, cancel, retry or wait for a group', () => import('./commands/group.ts')),
  entry(JOBS, 'session', 'keep a program alive and give it tasks', () => import('./commands/session.ts')),
  entry(JOBS, 'schedule', 'run jobs at the times of a cron pattern', () => import('./commands/schedule.ts')),
  entry(JOBS, 'program', 'write a program, and check how it speaks', () => import('./commands/program.ts')),
  entry(JOBS, 'presets', 'list, show and check presets of jobs', () => import('./commands/presets.ts')),
  entry(FLEET, 'workers', 'list workers, or show one', () => import('./commands/workers.ts')),
  entry(FLEET, 'env', 'list, install and remove Python packages for jobs here', () => import('./commands/env.ts')),
  entry(FLEET, 'drain', 'let a worker finish its jobs and take no more', () => import('./commands/drain.ts')),
  entry(FLEET, 'resume', 'let a drained worker take jobs again', () => import('./commands/resume.ts')),
  entry(FLEET, 'join', 'print a line that makes another machine a worker', () => import('./commands/join.ts')),
  entry(FLEET, 'listener', 'list, open and close where the hub listens', () => import('./commands/listener.ts')),
  entry(FLEET, 'device', 'quarantine a GPU, or release it', () => import('./commands/device.ts')),
  entry(FLEET, 'token', 'make, list and revoke tokens', () => import('./commands/token.ts')),
  entry(FLEET, 'webhook', 'tell a URL when jobs end', () => import('./commands/webhook.ts')),
  entry(FLEET, 'owner', 'show owners and set their limits', () => import('./commands/owner.ts')),
  entry(FLEET, 'secret', 'set, list and remove secrets of jobs', () => import('./commands/secret.ts')),
  entry(FLEET, 'audit', 'list what was done with power', () => import('./commands/audit.ts')),
  entry(FLEET, 'context', 'choose which hub to talk to', () => import('./commands/context.ts')),
  entry(CARE, 'backup', 'copy the data of a hub, also of a running one', () => import('./commands/backup.ts')),
  entry(CARE, 'restore', 'make a data folder from a backup', () => import('./commands/restore.ts')),
  entry(CARE, 'verify', "check the hub's guarantees on its stored data", () => import('./commands/verify.ts')),
  entry(CARE, 'gc', 'take away what is past its retention', () => import('./commands/gc.ts')),
  entry(CARE, 'sim', 'run the hub and many workers in virtual time', () => import('./commands/sim.ts')),
  entry(CARE, 'doctor', 'look for what is wrong with this machine and its hub', () => import('./commands/doctor.ts')),
  entry(ABOUT, 'schema', 'print the JSON Schema of a --json output', () => import('./commands/schema.ts')),
  entry(
    ABOUT,
    'completion',
    'print a script that completes words in your shell',
    () => import('./commands/completion.ts'),
  ),
  entry(ABOUT, 'version', 'print the versions of this program and of the hub', () => import('./commands/version.ts')),
  { ...entry(ABOUT, '__complete', '', () => import('./commands/complete.ts')), isHidden: true },
]

function entry(group: string, name: string, summary: string, load: CommandEntry['load']): CommandEntry {
  return { group, name, summary, load, isHidden: false }
}

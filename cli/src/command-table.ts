import type { Command } from 'commander'
import type { Io } from './io.ts'

/** What a command file gets: its own commander command to fill, the world, and where to leave its exit code. */
export interface Cli {
  readonly io: Io
  readonly argv: readonly string[]
  readonly exitWith: (code: number) => void
}

interface CommandFile {
  readonly define: (command: Command, cli: Cli) => void
}

export interface CommandEntry {
  readonly name: string
  readonly group: string
  readonly summary: string
  readonly load: () => Promise<CommandFile>
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
  entry(JOBS, 'list', 'list jobs, newest first', () => import('./commands/list.ts')),
  entry(JOBS, 'show', 'show one job with its attempts', () => import('./commands/show.ts')),
  entry(JOBS, 'logs', 'print what a job wrote', () => import('./commands/logs.ts')),
  entry(JOBS, 'artifacts', 'list and fetch the files a job left', () => import('./commands/artifacts.ts')),
  entry(JOBS, 'wait', 'wait until jobs have ended', () => import('./commands/wait.ts')),
  entry(JOBS, 'cancel', 'cancel jobs', () => import('./commands/cancel.ts')),
  entry(JOBS, 'retry', 'submit ended jobs again', () => import('./commands/retry.ts')),
  entry(FLEET, 'workers', 'list workers, or show one', () => import('./commands/workers.ts')),
  entry(FLEET, 'drain', 'let a worker finish its jobs and take no more', () => import('./commands/drain.ts')),
  entry(FLEET, 'resume', 'let a drained worker take jobs again', () => import('./commands/resume.ts')),
  entry(FLEET, 'token', 'make, list and revoke tokens', () => import('./commands/token.ts')),
  entry(FLEET, 'context', 'choose which hub to talk to', () => import('./commands/context.ts')),
  entry(CARE, 'backup', 'copy the data of a hub, also of a running one', () => import('./commands/backup.ts')),
  entry(CARE, 'restore', 'make a data folder from a backup', () => import('./commands/restore.ts')),
  entry(CARE, 'verify', "check the hub's guarantees on its stored data", () => import('./commands/verify.ts')),
  entry(CARE, 'gc', 'take away what is past its retention', () => import('./commands/gc.ts')),
  entry(CARE, 'sim', 'run the hub and many workers in virtual time', () => import('./commands/sim.ts')),
  entry(ABOUT, 'schema', 'print the JSON Schema of a --json output', () => import('./commands/schema.ts')),
  entry(ABOUT, 'version', 'print the versions of this program and of the hub', () => import('./commands/version.ts')),
]

function entry(group: string, name: string, summary: string, load: CommandEntry['load']): CommandEntry {
  return { group, name, summary, load }
}

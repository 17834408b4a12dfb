import { readdir, readFile, readlink } from 'node:fs/promises'

/** A living process, as far as it can be seen. */
export interface SeenProcess {
  readonly pid: number
  readonly parent: number
  readonly command: string
  readonly environment: string
  readonly folder: string
}

/** All living processes; zombies have nothing left but their number and are not counted. */
async function seenProcesses(): Promise<readonly SeenProcess[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number)
  const seen = await Promise.all(pids.map(see))
  return seen.filter(one => one !== null)
}

/** Processes that carry the text in their command line, environment or work folder. */
export async function processesWith(text: string): Promise<readonly SeenProcess[]> {
  const all = await seenProcesses()
  return all.filter(
    ({ pid, command, environment, folder }) =>
      pid !== process.pid && [command, environment, folder].some(part => part.includes(text)),
  )
}

/** The memory a process has in RAM now. */
export async function residentBytes(pid: number): Promise<number> {
  const kb = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kb ?? Number.NaN) * 1024
}

async function see(pid: number): Promise<SeenProcess | null> {
  const stat = await textOf(`/proc/${pid}/stat`)
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (state === undefined || parent === undefined || state === '' || 'ZX'.includes(state)) return null
  return {
    pid,
    parent: Number(parent),
    command: (await textOf(`/proc/${pid}/cmdline`)).replaceAll('\0', ' '),
    environment: (await textOf(`/proc/${pid}/environ`)).replaceAll('\0', ' '),
    folder: await readlink(`/proc/${pid}/cwd`).catch(() => ''),
  }
}

async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { processesWith } from './processes.ts'

const CGROUPS = '/sys/fs/cgroup'

/** What still exists of a house: processes, sockets and cgroups, each in words. Empty is the only good answer. */
export async function leftOver(root: string, epochs: ReadonlySet<number>): Promise<readonly string[]> {
  const processes = await processesWith(root)
  return [
    ...processes.map(({ pid, command }) => `process ${pid}: ${command.slice(0, 200)}`),
    ...(await listeningSockets(root)).map(path => `a listening socket ${path}`),
    ...(await attemptGroups(epochs)).map(path => `cgroup ${path}`),
  ]
}

/** True once the folder is gone. */
export async function isGone(path: string): Promise<boolean> {
  return stat(path).then(
    () => false,
    () => true,
  )
}

async function listeningSockets(root: string): Promise<readonly string[]> {
  const table = await readFile('/proc/net/unix', 'utf8')
  return table
    .split('\n')
    .map(line => line.split(' ').at(-1) ?? '')
    .filter(path => path.startsWith(`${root}/`))
}

/** Groups are named `stoker-<job>-<epoch>-<attempt>`; the epoch tells whose they are. */
async function attemptGroups(epochs: ReadonlySet<number>): Promise<readonly string[]> {
  return (await foldersBelow(CGROUPS, 4)).filter(path => epochs.has(Number(/stoker-\d+-(\d+)-\d+$/.exec(path)?.[1])))
}

async function foldersBelow(folder: string, depth: number): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  const folders = entries.filter(entry => entry.isDirectory()).map(entry => join(folder, entry.name))
  if (depth === 1) return folders
  return [...folders, ...(await Promise.all(folders.map(path => foldersBelow(path, depth - 1)))).flat()]
}

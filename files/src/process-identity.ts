import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { hasCode, unlessAbsent } from './absent.ts'

const run = promisify(execFile)
const isLinux = process.platform === 'linux'

/** Differs after every start of the machine, so a pid written down before one means nothing after it. */
export async function bootId(): Promise<string> {
  if (!isLinux) return (await run('sysctl', ['-n', 'kern.bootsessionuuid'])).stdout.trim()
  const id = await unlessAbsent(readFile('/proc/sys/kernel/random/boot_id', 'utf8'))
  return id === null ? bootTime() : id.trim()
}

/** With the pid this names one process for ever, since pids come round again; null when it is gone or only a zombie. */
export function processStart(pid: number): Promise<string | null> {
  return isLinux ? startFromProc(pid) : startFromPs(pid)
}

async function bootTime(): Promise<string> {
  const stat = await readFile('/proc/stat', 'utf8')
  const seconds = /^btime (\d+)$/m.exec(stat)?.[1]
  if (seconds === undefined) throw new Error('the machine has neither a boot id nor a btime line in /proc/stat')
  return `btime-${seconds}`
}

/** The name in parentheses may itself hold spaces and parentheses, so counting starts after the last one. */
async function startFromProc(pid: number): Promise<string | null> {
  const stat = await unlessGone(readFile(`/proc/${pid}/stat`, 'utf8'))
  if (stat === null) return null
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, start] = [fields[0], fields[19]]
  return start === undefined || state === 'Z' || state === 'X' ? null : start
}

async function startFromPs(pid: number): Promise<string | null> {
  const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' }
  const shown = await run('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { env }).catch(() => null)
  const [, state, start] = /^(\S+)\s+(.+)$/.exec(shown?.stdout.trim() ?? '') ?? []
  return start === undefined || state?.startsWith('Z') ? null : start
}

/** A process that ends between the open and the read of its file answers ESRCH instead of ENOENT. */
async function unlessGone(reading: Promise<string>): Promise<string | null> {
  return unlessAbsent(reading).catch(error => {
    if (hasCode(error, 'ESRCH')) return null
    throw error
  })
}

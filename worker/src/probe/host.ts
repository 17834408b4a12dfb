import { readFile } from 'node:fs/promises'
import os from 'node:os'
import { freeBytes } from '@stoker/files'
import type { Hardware } from '@stoker/protocol'
import { cgroupLimits } from './cgroup-limits.ts'

/** What can be said of any machine, before looking for devices and interpreters. */
export type Host = Omit<Hardware, 'pythons' | 'gpus' | 'gpuNote'>

/** Cores and memory are what this process may use, not what the machine is sold with; a part of a core does not count. */
export async function probeHost(folder: string): Promise<Host> {
  const [limits, disk, system] = await Promise.all([cgroupLimits(), freeBytes(folder), systemName()])
  return {
    cpuModel: os.cpus()[0]?.model.trim() || 'unknown',
    cores: Math.max(1, Math.min(os.availableParallelism(), Math.floor(limits.cpus ?? Number.POSITIVE_INFINITY))),
    memoryBytes: Math.min(os.totalmem(), limits.memoryBytes ?? Number.POSITIVE_INFINITY),
    disk,
    hostname: os.hostname(),
    os: `${system} (${os.type()} ${os.release()})`,
    arch: os.arch(),
  }
}

async function systemName(): Promise<string> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '')
  return /^PRETTY_NAME="?([^"\n]+)"?$/m.exec(release)?.[1] ?? os.version()
}

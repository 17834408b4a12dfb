import { constants, existsSync } from 'node:fs'
import { access, readdir } from 'node:fs/promises'
import type { Finding, Gpu } from '@stoker/protocol'
import { probeNvidia } from '../probe/nvidia.ts'
import { askDocker, type DockerAnswer } from './ask-docker.ts'

/** GPUs, their driver, and whether containers could use them. */
export async function examineDevices(): Promise<Finding[]> {
  const [{ gpus, note }, nodes, docker] = await Promise.all([probeNvidia(), deviceNodes(), askDocker()])
  return [gpuFinding(gpus, note, nodes), ...(await deniedNodes(nodes)), dockerFinding(docker, gpus.length > 0)]
}

function gpuFinding(gpus: readonly Gpu[], note: string | null, nodes: readonly string[]): Finding {
  const [first] = gpus
  const check = 'gpu'
  if (first !== undefined) {
    const text = `${gpus.length} × ${first.name}, driver ${first.driver ?? 'unknown'}${note === null ? '' : `; ${note}`}`
    return { check, level: note === null ? 'ok' : 'warn', text, todo: note === null ? null : 'look at: nvidia-smi' }
  }
  const hasHardware = nodes.length > 0 || existsSync('/proc/driver/nvidia')
  if (!hasHardware) return { check, level: 'ok', text: 'no NVIDIA GPU in this machine', todo: null }
  const todo = 'install the tools of the same driver version, or restart after a driver upgrade'
  return { check, level: 'bad', text: `an NVIDIA GPU is here, but ${note ?? 'no tool lists it'}`, todo }
}

async function deviceNodes(): Promise<string[]> {
  const names = await readdir('/dev').catch(() => [])
  return names.filter(name => /^nvidia(\d+|ctl)$/.test(name)).map(name => `/dev/${name}`)
}

async function deniedNodes(nodes: readonly string[]): Promise<Finding[]> {
  const isDenied = (node: string) =>
    access(node, constants.R_OK | constants.W_OK).then(
      () => false,
      () => true,
    )
  const denied: string[] = []
  for (const node of nodes) if (await isDenied(node)) denied.push(node)
  if (denied.length === 0) return []
  const text = `this user may not use ${denied.join(', ')}`
  return [
    { check: 'gpu access', level: 'bad', text, todo: 'add the user to the group that owns them (ls -l /dev/nvidia*)' },
  ]
}

function dockerFinding(docker: DockerAnswer, hasGpu: boolean): Finding {
  const check = 'docker'
  if (docker.kind === 'absent')
    return { check, level: 'ok', text: 'no Docker socket here; only jobs in containers would need one', todo: null }
  if (docker.kind === 'denied')
    return {
      check,
      level: 'warn',
      text: `${docker.socket} is there, this user may not use it`,
      todo: 'usermod -aG docker USER, then log in again; whoever may use Docker is as good as root',
    }
  if (docker.kind === 'silent')
    return { check, level: 'warn', text: `${docker.socket} is there, ${docker.why}`, todo: 'systemctl start docker' }
  const text = `Docker ${docker.version} answers${docker.hasNvidia ? ', with the NVIDIA runtime' : ''}`
  if (!hasGpu || docker.hasNvidia) return { check, level: 'ok', text, todo: null }
  const todo = 'install nvidia-container-toolkit, then: nvidia-ctk runtime configure && systemctl restart docker'
  return { check, level: 'warn', text: `${text}, but it has no NVIDIA runtime: containers see no GPU`, todo }
}

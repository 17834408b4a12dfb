import { constants, existsSync } from 'node:fs'
import { access, readdir } from 'node:fs/promises'
import type { Finding, Gpu } from '@stoker/protocol'
import { type EngineAnswer, findEngine } from '../probe/engine/find-engine.ts'
import { probeNvidia } from '../probe/nvidia.ts'

/** GPUs, their driver, and whether containers could use them. */
export async function examineDevices(env: Readonly<Record<string, string | undefined>>): Promise<Finding[]> {
  const asked = findEngine({ engine: null, env })
  const [{ gpus, note }, nodes, engine] = await Promise.all([probeNvidia(), deviceNodes(), asked])
  return [gpuFinding(gpus, note, nodes), ...(await deniedNodes(nodes)), engineFinding(engine, gpus.length > 0)]
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

/** Whether jobs with an image can run here, and whether they could have GPUs. */
export function engineFinding(answer: EngineAnswer, hasGpu: boolean): Finding {
  const check = 'engine'
  if (answer.kind === 'absent') {
    const text = 'no Docker or podman socket here; only jobs with an image need one'
    return { check, level: 'ok', text, todo: null }
  }
  if (answer.kind === 'denied') {
    const todo = 'usermod -aG docker USER, then log in again; whoever may use Docker is as good as root'
    return { check, level: 'warn', text: `${answer.socket} is there, this user may not use it`, todo }
  }
  if (answer.kind === 'silent') {
    const todo = /podman/.test(answer.socket) ? 'systemctl start podman.socket' : 'systemctl start docker'
    return { check, level: 'warn', text: `${answer.socket} is there, ${answer.why}`, todo }
  }
  const { engine, version, gpuRuntime } = answer
  const text = `${engine} ${version} answers${gpuRuntime ? ', with a GPU runtime' : ''}`
  if (!hasGpu || gpuRuntime) return { check, level: 'ok', text, todo: null }
  if (engine === 'podman')
    return { check, level: 'warn', text: `${text}; it gives containers no GPU`, todo: 'use Docker for GPU jobs' }
  const todo = 'install nvidia-container-toolkit, then: nvidia-ctk runtime configure && systemctl restart docker'
  return { check, level: 'warn', text: `${text}, but it has no GPU runtime: containers see no GPU`, todo }
}

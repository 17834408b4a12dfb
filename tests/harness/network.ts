import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'

/** Words that start a program on a machine: none for this one. */
export type Inside = readonly string[]

export interface Cable {
  /** The addresses of its two ends. */
  readonly here: string
  readonly there: string
  /** Pulled out and plugged in again. */
  unplug(): void
  plug(): void
  /** Slow, lossy and out of order by the kernel's own means; false where it has none. */
  worsen(): boolean
}

const PREFIX = `stk${process.pid}`

/** Machines with a network stack of their own (namespaces), joined by virtual cables; `close` proves that all are gone. */
export class TestNetwork {
  readonly #machines: string[] = []
  /** Ends of cables on this machine. */
  readonly #devices: string[] = []
  #cables = 0

  /** Why this machine cannot make others, or null. */
  static whyNot(): string | null {
    if (process.getuid?.() !== 0) return 'network namespaces need root'
    const tried = spawnSync('ip', ['netns', 'add', `${PREFIX}try`], { encoding: 'utf8' })
    if (tried.error !== undefined) return 'iproute2 is not installed'
    if (tried.status !== 0) return `network namespaces cannot be made: ${tried.stderr.trim()}`
    ip('netns', 'del', `${PREFIX}try`)
    return null
  }

  machine(name: string): Inside {
    const namespace = `${PREFIX}${name}`
    ip('netns', 'add', namespace)
    this.#machines.push(namespace)
    ip('-n', namespace, 'link', 'set', 'lo', 'up')
    return ['ip', 'netns', 'exec', namespace]
  }

  /** From this machine or another one to a third; every cable has a network of its own. */
  cable(from: Inside, to: Inside): Cable {
    this.#cables += 1
    const [a, b] = [`${PREFIX}a${this.#cables}`, `${PREFIX}b${this.#cables}`]
    const network = `10.${100 + (process.pid % 150)}.${this.#cables}`
    const [here, there] = [`${network}.1`, `${network}.2`]
    ip('link', 'add', a, 'type', 'veth', 'peer', 'name', b)
    const ends = [
      { on: from, device: a, address: here },
      { on: to, device: b, address: there },
    ]
    for (const { on, device, address } of ends) {
      const namespace = on.at(-1)
      if (namespace === undefined) this.#devices.push(device)
      else ip('link', 'set', device, 'netns', namespace)
      run(on, 'ip', 'addr', 'add', `${address}/24`, 'dev', device)
      run(on, 'ip', 'link', 'set', device, 'up')
    }
    const netem = ['netem', 'delay', '200ms', '40ms', 'loss', '5%', 'reorder', '5%']
    return {
      here,
      there,
      unplug: () => run(to, 'ip', 'link', 'set', b, 'down'),
      plug: () => run(to, 'ip', 'link', 'set', b, 'up'),
      worsen: () => spawned(to, 'tc', 'qdisc', 'add', 'dev', b, 'root', ...netem).status === 0,
    }
  }

  /** Cables between other machines vanish with those. */
  close(): void {
    for (const device of this.#devices.splice(0)) ip('link', 'del', device)
    for (const namespace of this.#machines.splice(0)) ip('netns', 'del', namespace)
    expect(spawnSync('ip', ['-br', 'link'], { encoding: 'utf8' }).stdout).not.toContain(PREFIX)
    expect(spawnSync('ip', ['netns', 'list'], { encoding: 'utf8' }).stdout).not.toContain(PREFIX)
  }
}

/** TCP ports that a process's machine accepts connections on. */
export async function listeningPorts(pid: number): Promise<readonly number[]> {
  const tables = await Promise.all(['tcp', 'tcp6'].map(name => readFile(`/proc/${pid}/net/${name}`, 'utf8')))
  const rows = tables.flatMap(text => text.trim().split('\n').slice(1))
  const fields = rows.map(row => row.trim().split(/\s+/))
  return fields.filter(row => row[3] === '0A').map(row => Number.parseInt(row[1]?.split(':').at(-1) ?? '', 16))
}

function ip(...args: readonly string[]): void {
  run([], 'ip', ...args)
}

function run(on: Inside, ...words: readonly string[]): void {
  const { status, stderr } = spawned(on, ...words)
  if (status !== 0) throw new Error(`${words.join(' ')} should succeed, it ended with ${status}: ${stderr}`)
}

function spawned(on: Inside, ...words: readonly string[]) {
  const [command = 'true', ...args] = [...on, ...words]
  return spawnSync(command, args, { encoding: 'utf8' })
}

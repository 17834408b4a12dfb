import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { EngineClient } from './engine-client.ts'

/** Why no private engine can be started here, or null. */
export function whyNoDockerd(): string | null {
  if (process.getuid?.() !== 0) return 'a private dockerd needs root'
  if (!existsSync('/usr/sbin/dockerd')) return 'dockerd is not installed (apt install docker.io)'
  return existsSync('/bin/busybox') ? null : 'busybox is not installed (apt install busybox-static)'
}

export interface PrivateEngine {
  readonly socket: string
  stop(): Promise<void>
}

/** A real engine that touches nothing outside its own folder: no bridge, no firewall rule, no usual socket. */
export async function startDockerd(): Promise<PrivateEngine> {
  const folder = await mkdtemp(join(tmpdir(), 'sk-'))
  const socket = join(folder, 'd.sock')
  const quiet = ['--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false']
  const own = ['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')]
  const words = [...own, '--pidfile', join(folder, 'pid'), '-H', `unix://${socket}`, ...quiet]
  const daemon = spawn('/usr/sbin/dockerd', words, { stdio: 'ignore' })
  const ended = new Promise<void>(resolve => daemon.once('exit', () => resolve()))
  await answers(new EngineClient(socket))
  return {
    socket,
    stop: async () => {
      daemon.kill('SIGTERM')
      await ended
      await unmountBelow(folder)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function answers(client: EngineClient): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if ((await client.json('GET', '/version').catch(() => null)) !== null) return
    await pause(50)
  }
  throw new Error('dockerd should answer within 30 s, it did not')
}

/** Containers that were running keep mounts for a moment after the daemon. */
async function unmountBelow(folder: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    if (!(await readFile('/proc/mounts', 'utf8')).includes(` ${folder}/`)) return
    await pause(50)
  }
}

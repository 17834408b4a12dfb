import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { NewSession } from '@stoker/protocol'
import { waitUntil } from '../wait-until.ts'
import type { Hub } from './stoker.ts'

const ECHO = fileURLToPath(new URL('../processes/echo_session.py', import.meta.url))
/** Takes no CPU of the worker's account, so that it starts on any machine. */
const PROGRAM = { command: ['python3', ECHO], isolation: 'none' as const, resources: { cpus: 0 } }

/** Room for all tasks of a round. */
const QUEUE = 100_000

/** The preset of the echo program, as both doors of the hub name it. */
export const ECHO_PRESET = { model_id: 'bench', task_preset: 'echo' } as const

/** A warm echo program that takes so many tasks at once; resolves with the session's id when it waits for the first. */
export function warmSession(hub: Hub, concurrency: number): Promise<string> {
  return started(hub, { ...PROGRAM, session: { concurrency, queue: QUEUE } })
}

/** The same from the preset in such a folder. */
export function presetSession(hub: Hub): Promise<string> {
  return started(hub, { preset: `${ECHO_PRESET.model_id}/${ECHO_PRESET.task_preset}` })
}

/** Writes a folder of presets with the echo program; answers the options of a hub that reads them. */
export async function echoPresets(folder: string, concurrency: number): Promise<readonly string[]> {
  const resources = { cpus: 0, gpus: 0 }
  const echo = { ...PROGRAM, resources, type: 'session', session: { concurrency, queue: QUEUE } }
  await mkdir(folder)
  await writeFile(join(folder, 'model_presets.yaml'), JSON.stringify({ models: { bench: { echo } } }))
  return ['--presets', folder]
}

async function started({ client }: Hub, spec: NewSession): Promise<string> {
  const { id } = await client.startSession(spec)
  await waitUntil('the session to be warm', async () => (await client.session(id)).state === 'waiting')
  return id
}

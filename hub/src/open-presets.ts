import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Log } from '@stoker/files'
import type { JobSpec } from '@stoker/protocol'
import type { PresetOptions } from './config.ts'
import type { EngineLoop } from './engine/loop.ts'
import { newId } from './new-id.ts'
import type { PresetSource } from './presets/expand-preset.ts'
import { KeepWarm, type WarmthOf } from './presets/keep-warm.ts'
import { PresetFolder } from './presets/preset-folder.ts'
import { readSettings } from './presets/settings.ts'
import type { ProgramBook } from './programs/program-book.ts'
import type { Queries } from './store/port.ts'

interface PresetPorts {
  /** Of the hub's data. */
  readonly folder: string
  readonly engine: EngineLoop
  readonly queries: Queries
  readonly diskGuard: () => object | null
  readonly programs: ProgramBook
  readonly log: Log
}

/** The presets of a hub with the sessions that are kept for them. */
export interface OpenPresets {
  readonly source: PresetSource
  readonly warmthOf: WarmthOf
  /** Called every second. */
  readonly tick: () => Promise<void>
  readonly close: () => Promise<void>
}

export async function openPresets(options: PresetOptions | undefined, ports: PresetPorts): Promise<OpenPresets> {
  const { folder, programs, ...shared } = ports
  const place = options ?? { folder: join(folder, 'presets'), settings: readSettings({}), home: homedir() }
  const { settings } = place
  const keptFile = join(folder, 'presets-in-force.json')
  const check = (spec: JobSpec) => programs.check(spec)
  const presets = await PresetFolder.open({ ...place, check, keptFile, now: Date.now, log: ports.log })
  const keepWarm = new KeepWarm({ ...shared, settings, newId, now: Date.now, check }, await presets.current())
  presets.onChange(book => keepWarm.take(book))
  return {
    source: { current: () => presets.current(), settings },
    warmthOf: keepWarm.warmthOf,
    tick: async () => {
      await presets.current()
      await keepWarm.tick()
    },
    close: () => keepWarm.close(),
  }
}

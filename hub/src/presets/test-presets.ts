import type { PresetSource } from './expand-preset.ts'
import { FILE_NAMES, type FileTexts, loadPresets } from './load-presets.ts'
import { readSettings } from './settings.ts'

/** Presets from texts instead of a folder; a file that is left out is not there. */
export function presetsOf(texts: Partial<FileTexts>): PresetSource {
  const none = Object.fromEntries(FILE_NAMES.map(name => [name, null])) as FileTexts
  const settings = readSettings({})
  const { book } = loadPresets(
    { ...none, ...texts },
    {},
    { folder: '/presets', settings, home: '/home/ada', check: spec => ({ spec }) },
  )
  return { current: async () => book, settings }
}

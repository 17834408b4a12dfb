import type { PresetError } from '@stoker/protocol'
import { type Entries, makePresets } from './make-presets.ts'
import type { CheckSpec, PresetBook } from './preset.ts'
import { PRESET_FILES, type PresetFile } from './preset-files.ts'
import { type Entry, type EntryOf, type ReadEntries, readEntries } from './read-entries.ts'
import type { Settings } from './settings.ts'

/** Of one file: whoever mends these sees the next ones. */
const MOST_ERRORS = 20
export const FILE_NAMES = Object.keys(PRESET_FILES) as readonly PresetFile[]

/** The text of a file, null if it is not there, or why it cannot be read. */
export type FileText = string | null | { readonly unreadable: string }
export type FileTexts = Readonly<Record<PresetFile, FileText>>
export type GoodTexts = Readonly<Partial<Record<PresetFile, string>>>

export interface Loaded {
  readonly book: PresetBook
  /** The texts in force: of a broken file the last good one. */
  readonly good: GoodTexts
}

export interface Place {
  readonly folder: string
  readonly settings: Settings
  /** What `~` means. */
  readonly home: string
  readonly check: CheckSpec
}

/** Presets from texts; where a file is broken its text of `before` counts on. */
export function loadPresets(texts: FileTexts, before: GoodTexts, place: Place): Loaded {
  const { folder } = place
  const errors: PresetError[] = []
  const good: Partial<Record<PresetFile, string>> = {}
  const read = <Name extends PresetFile>(name: Name): readonly Entry<EntryOf<Name>>[] => {
    const last = before[name]
    const now = readText(name, texts[name])
    if (now?.ok === false) errors.push(...now.errors.slice(0, MOST_ERRORS))
    const isGood = now === null || now.ok
    const text = isGood ? texts[name] : last
    const entries = isGood || last === undefined ? now : readEntries(name, last)
    if (typeof text === 'string') good[name] = text
    return entries?.ok === true ? entries.entries : []
  }
  const ofModels = read('model_presets.yaml')
  const actions = read('task_actions.yaml')
  // Without any good version of the actions it is them that is wrong, not every definition.
  const hasActions = texts['task_actions.yaml'] === null || good['task_actions.yaml'] !== undefined
  const definitions = read('task_definitions.yaml')
  const entries: Entries = {
    'model_presets.yaml': ofModels,
    'task_definitions.yaml': hasActions ? definitions : [],
    'task_actions.yaml': actions,
    'model_paths.yaml': read('model_paths.yaml'),
  }
  const made = makePresets(entries, place)
  return { book: { folder, presets: made.presets, errors: [...errors, ...made.errors] }, good }
}

function readText<Name extends PresetFile>(name: Name, text: FileText): ReadEntries<EntryOf<Name>> | null {
  if (text === null) return null
  if (typeof text === 'string') return readEntries(name, text)
  return { ok: false, errors: [{ file: name, line: 1, column: 1, message: text.unreadable }] }
}

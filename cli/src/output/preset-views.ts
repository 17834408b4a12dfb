import { formatDuration, type Preset, type PresetDetail, type PresetError, type PresetList } from '@stoker/protocol'
import type { Paper } from './paper.ts'
import { plainText } from './plain-text.ts'
import type { View } from './printer.ts'
import { type Column, table } from './table.ts'

export const presetListView: View<PresetList> = {
  ids: ({ presets }) => presets.map(({ name }) => name),
  human({ folder, presets, errors }, paper) {
    const rows =
      presets.length === 0
        ? `no presets; put model_presets.yaml into ${plainText(folder)}`
        : table(COLUMNS, presets, paper)
    return [rows, ...errorLines(folder, errors, paper)].join('\n')
  },
}

/** What is wrong in the files, as compilers say it. */
function errorLines(folder: string, errors: readonly PresetError[], { color }: Paper): string[] {
  if (errors.length === 0) return []
  const lines = errors.map(
    ({ file, line, column, message }) => `${plainText(folder)}/${file}:${line}:${column}: ${plainText(message)}`,
  )
  const note = 'of a file with mistakes the last good version is in force'
  return ['', ...lines.map(color.red), color.dim(note)]
}

export const presetView: View<PresetDetail> = {
  ids: ({ name }) => [name],
  human(preset, { color }) {
    const { spec, build, image } = preset
    const facts: readonly (readonly [string, string])[] = [
      ['name', preset.name],
      ['about', preset.description],
      ['type', `${preset.type}${preset.serves === null ? '' : `, serves ${preset.serves}`}`],
      ['model', preset.model ?? ''],
      ['image', image ?? ''],
      ['command', commandText(spec.command)],
      ['relaxed', preset.relaxed.join(', ')],
      ['missing', preset.imageMissing ?? ''],
      ['build', build?.command ?? ''],
      ['difficulty', preset.difficulty ?? ''],
      ['timeout', formatDuration(preset.timeoutSeconds * 1000)],
      ['sessions', sessionsText(preset)],
      ['failed', preset.sessions?.lastError ?? ''],
      ['written in', `${preset.file}:${preset.line}`],
      ['spec', JSON.stringify(spec)],
    ]
    const shown = facts.filter(([, text]) => text !== '')
    return shown.map(([name, text]) => `${color.dim(name.padEnd(10))}  ${plainText(text)}`).join('\n')
  },
}

function commandText(command: unknown): string {
  return Array.isArray(command) ? command.join(' ') : typeof command === 'string' ? command : ''
}

function sessionsText({ sessions }: Preset): string {
  if (sessions === null) return ''
  const { live, min, max, concurrency, nextStartAt } = sessions
  const places = `${concurrency} ${concurrency === 1 ? 'task' : 'tasks'} at once`
  return `${live} live (${min} to ${max}), ${places} each${nextStartAt === null ? '' : `, next start ${nextStartAt}`}`
}

const COLUMNS: readonly Column<Preset>[] = [
  { title: 'PRESET', cell: one => one.name, shrinkTo: 12 },
  { title: 'TYPE', cell: one => one.type },
  { title: 'SERVES', cell: one => one.serves ?? '-', importance: 1 },
  {
    title: 'IMAGE',
    cell: one => (one.imageMissing === null ? (one.image ?? '-') : `${one.image} (missing)`),
    shrinkTo: 8,
  },
  { title: 'TIMEOUT', cell: one => formatDuration(one.timeoutSeconds * 1000), importance: 2 },
  { title: 'LIVE', cell: one => (one.sessions === null ? '-' : `${one.sessions.live}/${one.sessions.max}`) },
  { title: 'ABOUT', cell: one => one.description, shrinkTo: 8, importance: 3 },
]

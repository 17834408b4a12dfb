import { nearest } from '@stoker/protocol'
import type { Preset, PresetBook } from '../../presets/preset.ts'
import { ApiError } from './api-error.ts'

/** What a program is asked for; the word is part of what it gets. */
export type Kind = NonNullable<Preset['program']['serves']>

/** A name that clients may use, and the preset it stands for. */
export interface Model {
  readonly id: string
  readonly preset: Preset
}

/**
 * All names in use: the full name of each serving preset, and the name of a model where one preset alone serves it, at
 * least for a kind.
 */
export function modelsOf({ presets }: PresetBook): readonly Model[] {
  const serving = [...presets.values()].filter(
    ({ type, program }) => type === 'session' && program.serves !== undefined,
  )
  const short = new Set(serving.flatMap(({ model }) => model ?? []))
  const byModel = [...short].flatMap(id => {
    const own = serving.filter(({ model }) => model === id)
    return own.filter(one => isOnly(one, own)).map(preset => ({ id, preset }))
  })
  const full = serving.map(preset => ({ id: preset.name, preset }))
  return [...full, ...byModel.filter(({ id }) => !presets.has(id))].sort((a, b) => (a.id < b.id ? -1 : 1))
}

function isOnly({ program, name }: Preset, own: readonly Preset[]): boolean {
  return own.every(one => one.name === name || one.program.serves !== program.serves)
}

/** The preset that a name stands for when this is asked of it; otherwise an error that says what would have done. */
export function findModel(book: PresetBook, id: string, kind: Kind): Preset {
  const models = modelsOf(book)
  const named = models.filter(model => model.id === id)
  const found = named.find(({ preset }) => preset.program.serves === kind)
  if (found !== undefined) return found.preset
  const several = models.filter(({ preset }) => preset.model === id && preset.program.serves === kind)
  if (several.length > 0)
    throw notFound(`the model "${id}" is served by several presets; name one: ${idsOf(several).join(', ')}`)
  const [other] = named
  if (other !== undefined)
    throw notFound(`the model "${id}" serves ${other.preset.program.serves}, and was asked for ${kind}`)
  throw unknownModel(models, id)
}

export function unknownModel(models: readonly Model[], id: string): ApiError {
  const close = nearest(id, idsOf(models))
  const hint =
    models.length === 0 ? '; no preset of this hub serves one' : close === null ? '' : `; did you mean "${close}"?`
  return notFound(`the model "${id}" does not exist${hint}`)
}

function idsOf(models: readonly Model[]): string[] {
  return [...new Set(models.map(({ id }) => id))]
}

function notFound(message: string): ApiError {
  return new ApiError(404, message, { type: 'invalid_request_error', param: 'model', code: 'model_not_found' })
}

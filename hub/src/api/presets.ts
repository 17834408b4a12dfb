import { PresetDetail, PresetList, Problem } from '@stoker/protocol'
import { z } from 'zod'
import { findPreset } from '../presets/preset.ts'
import { guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { imagesOf, presetParts, viewPreset } from './preset-views.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const tags = ['presets']

const ListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: z.string().min(1).max(400).optional(),
})

/** Presets are files of the hub's owner: everybody sees and uses them, nobody changes them here. */
export function addPresetRoutes(api: Api, context: RouteContext): void {
  const { engine, tokens, presets, warmthOf } = context
  const see = guard(tokens, ['admin', 'submit', 'read'])
  const detail = async (name: string): Promise<PresetDetail> => {
    const preset = findPreset(await presets.current(), name)
    const images = await engine.read(imagesOf)
    return { ...viewPreset(preset, images, warmthOf), ...presetParts(preset, presets.settings) }
  }

  api.get('/api/v1/presets', {
    schema: {
      summary: 'List presets by name, and what is wrong in their files',
      tags,
      querystring: ListQuery,
      response: { 200: PresetList, ...errors },
    },
    onRequest: see,
    handler: async request => {
      const { limit, cursor = '' } = request.query
      const book = await presets.current()
      const images = await engine.read(imagesOf)
      const found = [...book.presets.values()]
        .filter(({ name }) => name > cursor)
        .sort((a, b) => (a.name < b.name ? -1 : 1))
      const page = found.slice(0, limit).map(preset => viewPreset(preset, images, warmthOf))
      const next = found.length > limit ? (page.at(-1)?.name ?? null) : null
      return { folder: book.folder, presets: page, errors: [...book.errors], next }
    },
  })

  api.get('/api/v1/presets/:name', {
    schema: {
      summary: 'Show a preset and the spec it becomes; a slash in its name is written %2F',
      tags,
      params: z.object({ name: z.string() }),
      response: { 200: PresetDetail, ...errors },
    },
    onRequest: see,
    handler: request => detail(request.params.name),
  })

  api.get('/api/v1/presets/:model/:preset', {
    schema: {
      summary: 'Show a preset by its model and name',
      tags,
      params: z.object({ model: z.string(), preset: z.string() }),
      response: { 200: PresetDetail, ...errors },
    },
    onRequest: see,
    handler: request => detail(`${request.params.model}/${request.params.preset}`),
  })
}

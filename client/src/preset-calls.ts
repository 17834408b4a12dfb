import { PresetDetail, PresetList } from '@stoker/protocol'
import type { Caller } from './caller.ts'
import { queryText } from './query.ts'

/** What can be asked about presets; `name` is `model/preset` or the name of a task definition. */
export function presetCalls(caller: Caller) {
  return {
    presets: (of: { readonly limit?: number | undefined; readonly cursor?: string | undefined } = {}) =>
      caller.json(
        { method: 'GET', path: `/api/v1/presets${queryText(of)}`, repeatable: true },
        PresetList,
      ) as Promise<PresetList>,
    preset: (name: string): Promise<PresetDetail> =>
      caller.json(
        { method: 'GET', path: `/api/v1/presets/${encodeURIComponent(name)}`, repeatable: true },
        PresetDetail,
      ),
  }
}

import type { Offer } from '@stoker/protocol'

/** What the program of a session reads on its stdin for one task. */
export function taskLine({ id, spec }: Offer, session: Offer): string {
  const [model, preset] = presetNames(spec.preset ?? spec.task?.preset ?? session.spec.preset)
  return JSON.stringify({
    task_id: id,
    task_name: spec.name,
    model_id: model,
    task_preset: preset,
    metadata: spec.input,
    timeout_seconds: spec.timeoutMs === null ? null : spec.timeoutMs / 1000,
  })
}

/** `model/preset`: the preset is what follows the last stroke, because names of models may have some. */
function presetNames(name: string | null): readonly [string | null, string | null] {
  if (name === null) return [null, null]
  const at = name.lastIndexOf('/')
  return at === -1 ? [null, name] : [name.slice(0, at), name.slice(at + 1)]
}

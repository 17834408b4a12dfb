import { formatSize, type PresetDetail, type Preset as PresetView } from '@stoker/protocol'
import type { State } from '../engine/state.ts'
import { buildCommand, missingImage } from '../presets/build-command.ts'
import type { WarmthOf } from '../presets/keep-warm.ts'
import type { Preset } from '../presets/preset.ts'
import { presetSpec } from '../presets/preset-spec.ts'
import type { Settings } from '../presets/settings.ts'
import { isoTimeOrNull } from './iso-time.ts'

/** The images that connected workers have; null while none of them runs containers. */
export function imagesOf(state: State): ReadonlySet<string> | null {
  const engines = [...state.workers.values()].flatMap(({ connected, facts }) =>
    connected && facts.abilities.containers !== undefined ? [facts.abilities.containers] : [],
  )
  return engines.length === 0 ? null : new Set(engines.flatMap(({ images }) => images))
}

export function viewPreset(preset: Preset, images: ReadonlySet<string> | null, warmthOf: WarmthOf): PresetView {
  const { name, model, description, type, difficulty, timeoutMs, program, session, file, line } = preset
  const image = program.docker_image ?? null
  const { idleMs, lifetimeMs, ...rest } = session
  const { nextStartAt, ...warmth } = warmthOf(name)
  return {
    name,
    model,
    description,
    type,
    serves: program.serves ?? null,
    difficulty,
    timeoutSeconds: timeoutMs / 1000,
    image,
    relaxed: relaxedIn(preset),
    imageMissing: image === null || images === null || hasImage(images, image) ? null : missingImage(program),
    sessions:
      type === 'oneoff'
        ? null
        : {
            ...rest,
            idleTimeoutSeconds: idleMs / 1000,
            maxLifetimeSeconds: lifetimeMs / 1000,
            ...warmth,
            nextStartAt: isoTimeOrNull(nextStartAt),
          },
    file,
    line,
  }
}

export function presetParts(preset: Preset, settings: Settings): Pick<PresetDetail, 'spec' | 'build'> {
  const { source_path, dockerfile, build_args } = preset.program
  const build = { dockerfile: dockerfile ?? null, args: build_args ?? {}, command: buildCommand(preset.program) }
  return {
    spec: plainSpec(preset, settings),
    build: source_path === undefined ? null : { sourcePath: source_path, ...build },
  }
}

/** What is not there in JSON is not there. */
function plainSpec(preset: Preset, settings: Settings): PresetDetail['spec'] {
  return JSON.parse(JSON.stringify(presetSpec(preset, settings, { as: preset.type === 'session' ? 'session' : 'job' })))
}

/** A name without a tag means `latest`. */
function hasImage(images: ReadonlySet<string>, image: string): boolean {
  const hasTag = /:[^/]+$|@/.test(image)
  return images.has(image) || (!hasTag && images.has(`${image}:latest`))
}

function relaxedIn({ program }: Preset): string[] {
  const { network, isolation, container = {} } = program
  const { user, writableRoot, shm, tmp } = container
  return [
    isolation === 'none' ? 'isolation none' : null,
    network === undefined || network === 'none' ? null : `network ${network}`,
    user === undefined ? null : `user ${user}`,
    writableRoot === true ? 'writable root' : null,
    shm === undefined ? null : `shm ${formatSize(Number(shm))}`,
    tmp === undefined ? null : `tmp ${formatSize(Number(tmp))}`,
  ].flatMap(text => text ?? [])
}

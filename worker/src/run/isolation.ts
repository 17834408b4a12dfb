import { type Abilities, allowsImage, type Container, type Containers, type JobSpec, liesBelow } from '@stoker/protocol'

export interface Isolation {
  readonly isolation: 'none' | 'sandbox' | 'container'
  readonly network: 'none' | 'internet' | 'host'
}

/** The strongest isolation that serves the spec here, or the sentence why none does. An image is never run any other way. */
export function chooseIsolation(spec: JobSpec, abilities: Abilities): Isolation | string {
  const network = spec.network ?? 'none'
  if (spec.container !== null)
    return whyNoContainer(spec, spec.container, abilities) ?? { isolation: 'container', network }
  const sandboxServes =
    abilities.sandbox && (network !== 'internet' || abilities.internet) && (network !== 'host' || abilities.hostNetwork)
  if (spec.isolation !== 'none' && sandboxServes) return { isolation: 'sandbox', network }
  if (spec.isolation !== 'sandbox' && abilities.unsandboxed && spec.network !== 'none')
    return { isolation: 'none', network: 'host' }
  return `the job wants isolation ${spec.isolation} with network ${spec.network ?? 'as the sandbox has it'}, this worker has ${abilities.note ?? 'nothing that serves'}`
}

/** The hub has looked at all this; what the owner of a worker allows is held to by the worker itself. */
function whyNoContainer(spec: JobSpec, { image, mounts }: Container, abilities: Abilities): string | null {
  const { containers, hostNetwork, note } = abilities
  if (containers === undefined) return `the job needs a container, this worker has ${note ?? 'no engine'}`
  if (!allowsImage(containers.allowedImages, image))
    return `the job needs image ${image}, this worker allows only ${containers.allowedImages.join(', ')}`
  const outside = mounts.find(({ source }) => !liesBelow(source, containers.allowedMounts))
  if (outside !== undefined) return `the job mounts ${outside.source}, this worker allows ${mountsOf(containers)}`
  if (spec.resources.gpus > 0 && !containers.gpus)
    return `the job needs GPUs in a container, the ${containers.engine} of this worker gives none`
  return spec.network === 'host' && !hostNetwork ? 'the job wants network host, this worker keeps its own' : null
}

function mountsOf({ allowedMounts }: Containers): string {
  return allowedMounts.length === 0 ? 'no mounts' : `mounts below ${allowedMounts.join(', ')} only`
}

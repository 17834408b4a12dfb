import { allowsImage, type Containers, familiarImage, liesBelow, type Shape } from '@stoker/protocol'
import type { WorkerFacts } from '../engine/state.ts'
import { type Refusal, refusal } from './refusal.ts'

type Look = (shape: Shape & { readonly image: string }, containers: Containers, facts: WorkerFacts) => Refusal | null

/** What keeps a container from a worker: no engine, or the first rule of its owner or lack of its engine that is in the way. */
export function containerFits(shape: Shape, facts: WorkerFacts): Refusal | null {
  const { image } = shape
  if (shape.executor !== 'container' || image === null) return null
  const { containers, note } = facts.abilities
  if (containers === undefined) return noEngine(image, facts.name, note)
  for (const look of LOOKS) {
    const found = look({ ...shape, image }, containers, facts)
    if (found !== null) return found
  }
  return null
}

function noEngine(image: string, name: string, note: string | null): Refusal {
  const why = note === null ? '' : ` (${note})`
  return refusal('containers.none', `needs a container engine for image ${image}, ${name} has none${why}`)
}

const LOOKS: readonly Look[] = [
  ({ image }, { allowedImages }, { name }) => {
    if (allowsImage(allowedImages, image)) return null
    const has = allowedImages.join(', ')
    const text = `needs image ${image}, ${name} allows only ${has} (its --allow-image)`
    return refusal('image.forbidden', text, { field: 'image', needs: image, has })
  },
  ({ image, pull }, { pulls, images }, { name }) => {
    if (pulls && pull !== 'never') return null
    if (pull === 'always')
      return refusal('image.absent', `needs image ${image} fetched anew, ${name} fetches none`, {
        field: 'pull',
        needs: pull,
        has: 'never',
      })
    if (images.includes(familiarImage(image))) return null
    const why = pull === 'never' ? 'may not fetch it for this job' : 'fetches none'
    return refusal(
      'image.absent',
      `needs image ${image}, ${name} does not have it and ${why}: docker pull or docker load it there`,
      {
        field: 'pull',
        needs: pull,
        has: pulls ? 'missing' : 'never',
      },
    )
  },
  ({ mounts }, { allowedMounts }, { name }) => {
    const outside = mounts.find(source => !liesBelow(source, allowedMounts))
    if (outside === undefined) return null
    const has = allowedMounts.length === 0 ? null : allowedMounts.join(', ')
    const text = `mounts ${outside}, ${name} allows mounts ${has === null ? 'of no folder' : `below ${has} only`}`
    return refusal('mounts.forbidden', text, { field: 'mounts', needs: outside, has })
  },
  ({ gpus }, containers, { name }) => {
    if (gpus === 0 || containers.gpus) return null
    const why =
      containers.engine === 'podman' ? 'runs containers by podman, which gives them none' : 'has no GPU runtime'
    return refusal('containers.gpus', `needs ${gpus} GPU${gpus === 1 ? '' : 's'} in a container, ${name} ${why}`)
  },
  ({ network }, _, { abilities, name }) =>
    network !== 'host' || abilities.hostNetwork
      ? null
      : refusal('containers.network', `needs network host, ${name} keeps its own network from jobs`, {
          field: 'network',
          needs: network,
          has: null,
        }),
]

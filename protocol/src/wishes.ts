import { z } from 'zod'
import type { SpecIssue } from './spec-issues.ts'
import { text } from './spec-text.ts'

const Tags = z.array(text(100)).max(32)

/** A list of tags is what a worker must have; the long form also says what it must not have and what it had better have. */
export const PlacementInput = z.strictObject({
  worker: text(200).optional(),
  exclude: z.array(text(200)).max(32).optional(),
  tags: z
    .union([Tags, z.strictObject({ require: Tags.optional(), avoid: Tags.optional(), prefer: Tags.optional() })])
    .optional(),
  /** Workers of other systems may have it, whose results nobody can vouch for. */
  unverified: z.boolean().optional(),
})
type PlacementInput = z.output<typeof PlacementInput>

interface DeviceWishes {
  readonly gpus?: number | undefined
  readonly gpuMemory?: number | undefined
  readonly gpuModel?: string | undefined
  readonly gpuDifficulty?: string | undefined
  readonly gpuSharing?: 'exclusive' | 'shared' | undefined
}

/** Whoever describes a device without a count means one. */
export function asksForDevices({ gpuMemory, gpuModel, gpuDifficulty, gpuSharing }: DeviceWishes): boolean {
  const describes = gpuMemory !== undefined || gpuModel !== undefined || gpuDifficulty !== undefined
  return describes || gpuSharing === 'shared'
}

export function placementOf({ worker, exclude, tags, unverified }: PlacementInput) {
  const { require, avoid, prefer } = wishedTags(tags)
  return {
    worker: worker ?? null,
    exclude: inOrder(exclude),
    tags: inOrder(require),
    avoidTags: inOrder(avoid),
    preferTags: inOrder(prefer),
    unverified: unverified ?? false,
  }
}

/** Wishes no worker could ever meet. */
export function checkSharing({ gpus, gpuMemory, gpuSharing }: DeviceWishes, issues: SpecIssue[]): void {
  if (gpuSharing !== 'shared') return
  if ((gpuMemory ?? 0) < 2 ** 20) {
    const found = gpuMemory === undefined ? 'missing' : `found ${gpuMemory}`
    const message = `${found}; gpuSharing "shared" needs the memory to take of each device, 1 MiB or more`
    issues.push({ path: 'resources.gpuMemory', message })
  }
  if (gpus === 0)
    issues.push({ path: 'resources.gpus', message: 'found 0; gpuSharing "shared" takes a part of at least one device' })
}

export function checkPlacement({ worker, exclude = [], tags }: PlacementInput, issues: SpecIssue[]): void {
  const { require = [], avoid = [] } = wishedTags(tags)
  const both = require.find(tag => avoid.includes(tag))
  if (both !== undefined) {
    const message = `found "${both}", which is required too; no worker has it and lacks it`
    issues.push({ path: 'placement.tags.avoid', message })
  }
  if (worker !== undefined && exclude.includes(worker))
    issues.push({ path: 'placement.exclude', message: `found "${worker}", which placement.worker asks for` })
}

function wishedTags(tags: PlacementInput['tags'] = []) {
  return Array.isArray(tags) ? { require: tags, avoid: [], prefer: [] } : tags
}

/** Equal wishes make equal shapes, in whatever order they were written. */
function inOrder(words: readonly string[] = []): string[] {
  return [...new Set(words)].sort()
}

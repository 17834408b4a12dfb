import { z } from 'zod'
import { InnerPath, Sha256 } from './artifact.ts'
import { size } from './quantity-input.ts'
import type { SpecIssue } from './spec-issues.ts'
import { text } from './spec-text.ts'

const MIB = 2 ** 20
const TMP_BYTES = 64 * MIB
export const PULLS = ['missing', 'never', 'always'] as const

/** An image as engines name it: `[host/]path[:tag][@digest]`. */
export const ImageName = text(500).regex(
  /^[a-z0-9]([a-z0-9._/-]|:(?=[A-Za-z0-9_]))*[A-Za-z0-9._-]*(@sha256:[0-9a-f]{64})?$/i,
  'an image is named like "python:3.11-slim" or "host/name@sha256:…"',
)
const Absolute = text(4000)
  .regex(/^\//, 'a path here begins with "/"')
  .refine(path => !path.split('/').includes('..'), 'a path here has no ".."')

/** What a container may have beyond the strictest: each relaxation is asked for by name. */
export const ContainerInput = z.strictObject({
  user: text(100)
    .regex(/^[A-Za-z0-9_.-]+(:[A-Za-z0-9_.-]+)?$/, 'a user is a name or number, or "user:group"')
    .optional(),
  workdir: z.union([z.literal('image'), Absolute]).optional(),
  writableRoot: z.boolean().optional(),
  shm: size('shm').optional(),
  tmp: size('tmp').optional(),
})

export const MountInput = z.strictObject({ source: Absolute, target: Absolute, readOnly: z.boolean().optional() })

/** A folder of a worker's machine, shown in the container; its owner must have allowed it. */
const Mount = z.object({ source: z.string(), target: z.string(), readOnly: z.boolean() })

/** Where a container comes from and what it may have; as kept, with all defaults. */
export const Container = z.object({
  image: z.string(),
  pull: z.enum(PULLS).default('missing'),
  user: z.string().nullable().default(null),
  /** Null: /work, where the job's folder is; `image`: what the image says. */
  workdir: z.string().nullable().default(null),
  writableRoot: z.boolean().default(false),
  shmBytes: z.number().nullable().default(null),
  tmpBytes: z.number().default(TMP_BYTES),
  mounts: z.array(Mount).default([]),
})
export type Container = Readonly<z.infer<typeof Container>>

const ModelFile = z.strictObject({
  path: InnerPath,
  url: z.url({ protocol: /^https?$/, message: 'url is an http or https URL' }),
  sha256: Sha256,
  size: z.int().min(0).optional(),
})

/** Read-only files the program finds at MODEL_PATH: a folder that a worker has, or files it fetches once and keeps. */
export const Model = z.strictObject({
  name: text(200),
  path: Absolute.nullable().default(null),
  files: z.array(ModelFile).max(1000).default([]),
})
export type Model = Readonly<z.output<typeof Model>>

interface ContainerWishes {
  readonly image?: string | undefined
  readonly pull?: (typeof PULLS)[number] | undefined
  readonly container?: z.output<typeof ContainerInput> | undefined
  readonly mounts?: readonly z.output<typeof MountInput>[] | undefined
}

export function containerOf({ image, pull, container = {}, mounts = [] }: ContainerWishes): Container | null {
  if (image === undefined) return null
  return {
    image,
    pull: pull ?? 'missing',
    user: container.user ?? null,
    workdir: container.workdir ?? null,
    writableRoot: container.writableRoot ?? false,
    shmBytes: container.shm ?? null,
    tmpBytes: container.tmp ?? TMP_BYTES,
    mounts: mounts.map(({ readOnly, ...mount }) => ({ ...mount, readOnly: readOnly ?? true })),
  }
}

/** Words about a container mean nothing without an image, and an image nothing without a container. */
export function checkContainer(
  wishes: ContainerWishes & { readonly isolation?: string | undefined },
  isProgram: boolean,
  issues: SpecIssue[],
): void {
  const { image, isolation } = wishes
  if (image === undefined) {
    for (const path of OF_CONTAINERS)
      if (wishes[path] !== undefined)
        issues.push({ path, message: `found ${path}; without an image there is no container` })
    if (isolation === 'container') issues.push({ path: 'image', message: 'missing; isolation "container" needs one' })
  } else if (!isProgram) {
    issues.push({ path: 'image', message: 'found an image; this type of job starts no program' })
  } else if (isolation === 'none' || isolation === 'sandbox') {
    issues.push({ path: 'isolation', message: `found "${isolation}" with an image; an image runs in a container` })
  }
}

const OF_CONTAINERS = ['pull', 'container', 'mounts'] as const

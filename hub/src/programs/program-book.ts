import { join } from 'node:path'
import { readJsonOr } from '@stoker/files'
import {
  checkProgram,
  type Expansion,
  isProgramType,
  type JobSpec,
  PROGRAM_TYPES,
  ProgramManifest,
  type SpecIssue,
  withProgramNeeds,
} from '@stoker/protocol'

export type CheckedSpec = { readonly spec: JobSpec } | { readonly issues: readonly SpecIssue[] }

/** What the programs of job types say of themselves; of a type without a manifest nothing is known, and nothing refused. */
export class ProgramBook {
  readonly #manifests: ReadonlyMap<string, ProgramManifest>

  constructor(manifests: Iterable<ProgramManifest>) {
    this.#manifests = new Map([...manifests].map(manifest => [manifest.type, manifest]))
  }

  /** The spec with what its program needs, or what its program would refuse. */
  check(spec: JobSpec): CheckedSpec {
    const manifest = isProgramType(spec.type) ? this.#manifests.get(spec.type) : undefined
    if (manifest === undefined) return { spec }
    const issues = checkProgram(manifest, spec)
    return issues.length > 0 ? { issues } : { spec: withProgramNeeds(spec, manifest) }
  }
}

export const NO_PROGRAMS = new ProgramBook([])

/** Every job of an expansion with what its program needs; the first that its program would refuse refuses all. */
export function checkExpansion(expansion: Expansion, programs: ProgramBook): Expansion {
  if (!expansion.ok) return expansion
  const checked = expansion.expanded.specs.map(spec => programs.check(spec))
  const wrong = checked.find(one => 'issues' in one)
  if (wrong !== undefined) return { ok: false, issues: wrong.issues }
  const specs = checked.flatMap(one => ('spec' in one ? [one.spec] : []))
  return { ok: true, expanded: { ...expansion.expanded, specs } }
}

/** The manifests in a folder of programs; one that cannot be read is left to the workers, who say so. */
export async function readProgramBook(folder: string): Promise<ProgramBook> {
  const found = await Promise.all(
    PROGRAM_TYPES.map(async type => {
      const file = join(folder, type.replaceAll('-', '_'), 'program.json')
      const manifest = ProgramManifest.safeParse(await readJsonOr(file, null).catch(() => null))
      return manifest.success && manifest.data.type === type ? [manifest.data] : []
    }),
  )
  return new ProgramBook(found.flat())
}

import { defaultName, type JobSpec, parseJobSpec } from './job-spec.ts'
import { type SpecIssue, specIssues } from './spec-issues.ts'
import { matrixVariable, SWEEP_KEYS, SweepInput } from './sweep.ts'
import { fillIn } from './sweep-fill.ts'
import { type SweepMember, sweepMembers } from './sweep-members.ts'

const NAME_LENGTH = 200

/** The jobs one written spec means: itself, or a group of members. */
export interface ExpandedSpec {
  readonly specs: readonly JobSpec[]
  readonly group: { readonly name: string; readonly maxParallel: number | null } | null
}

export type Expansion =
  | { readonly ok: true; readonly expanded: ExpandedSpec }
  | { readonly ok: false; readonly issues: readonly SpecIssue[] }

/** True of a spec that makes a group. */
export function isSweep(value: unknown): boolean {
  return typeof value === 'object' && value !== null && SWEEP_KEYS.some(key => Object.hasOwn(value, key))
}

/** Parses a written spec into all its jobs. `rest` runs between members, so that a large group does not hold up others. */
export async function expandSpec(value: unknown, rest: (done: number) => Promise<void>): Promise<Expansion> {
  if (!isSweep(value)) {
    const parsed = parseJobSpec(value)
    return parsed.ok ? { ok: true, expanded: { specs: [parsed.spec], group: null } } : parsed
  }
  const { array, matrix, maxParallel, ...template } = value as Record<string, unknown>
  const read = readSweep({ array, matrix, maxParallel })
  if ('issues' in read) return { ok: false, issues: read.issues }
  const taken = reservedVariable(template, read.members[0])
  if (taken !== null) return { ok: false, issues: [taken] }
  const name = baseName(template)
  const specs: JobSpec[] = []
  for (const member of read.members) {
    if (specs.length > 0) await rest(specs.length)
    const parsed = parseMember(template, member, name)
    if ('issues' in parsed) return { ok: false, issues: parsed.issues }
    specs.push(parsed.spec)
  }
  return { ok: true, expanded: { specs, group: { name, maxParallel: read.maxParallel } } }
}

type Issues = { readonly issues: readonly SpecIssue[] }

function readSweep(
  given: Record<string, unknown>,
): Issues | { readonly members: readonly SweepMember[]; readonly maxParallel: number | null } {
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const parsed = SweepInput.safeParse(present)
  if (!parsed.success) return { issues: specIssues(parsed.error, present, () => ['from', 'to', 'step']) }
  if (parsed.data.array === undefined && parsed.data.matrix === undefined)
    return { issues: [{ path: 'maxParallel', message: 'found without "array" or "matrix"; it is for their members' }] }
  const members = sweepMembers(parsed.data)
  if (!members.ok) return members
  return { members: members.members, maxParallel: parsed.data.maxParallel ?? null }
}

function parseMember(template: Record<string, unknown>, member: SweepMember, name: string): Issues | { spec: JobSpec } {
  const filled = fillIn(template, member)
  if ('issues' in filled) return filled
  const parsed = parseJobSpec({ ...filled.spec, name: memberName(name, member.mark) })
  if (!parsed.ok) return parsed
  return { spec: { ...parsed.spec, env: { ...parsed.spec.env, ...variablesOf(member) } } }
}

function variablesOf({ index, size, values }: SweepMember): Record<string, string> {
  const matrix = Object.entries(values).map(([name, value]) => [matrixVariable(name), String(value)])
  return { STOKER_ARRAY_INDEX: String(index), STOKER_ARRAY_SIZE: String(size), ...Object.fromEntries(matrix) }
}

function reservedVariable({ env }: Record<string, unknown>, member: SweepMember | undefined): SpecIssue | null {
  if (typeof env !== 'object' || env === null || member === undefined) return null
  const own = Object.keys(variablesOf(member)).find(name => Object.hasOwn(env, name))
  return own === undefined ? null : { path: `env.${own}`, message: 'a group sets this variable itself for each member' }
}

/** A name that is no text is refused by the parser. */
function baseName({ name, type, command }: Record<string, unknown>): string {
  if (typeof name === 'string') return name
  const words = Array.isArray(command) ? command.map(String) : typeof command === 'string' ? command : undefined
  return defaultName(typeof type === 'string' ? type : 'command', words)
}

/** The mark tells members apart, so it is the base that is cut. */
function memberName(base: string, mark: string): string {
  const short = mark.length > NAME_LENGTH / 2 ? `${mark.slice(0, NAME_LENGTH / 2 - 1)}…` : mark
  const room = NAME_LENGTH - short.length - 2
  return `${base.length > room ? `${base.slice(0, room - 1)}…` : base}[${short}]`
}

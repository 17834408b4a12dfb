import { nearest } from './nearest.ts'
import type { SpecIssue } from './spec-issues.ts'
import type { SweepValue } from './sweep.ts'
import type { SweepMember } from './sweep-members.ts'

/** Only names that begin with `matrix.` or `array.` are ours: other `${{ … }}` belong to the program. */
const PLACE = /\$\{\{\s*((?:matrix|array)\.[^}\s]*)\s*\}\}/g

type Filled = { readonly spec: Record<string, unknown> } | { readonly issues: readonly SpecIssue[] }

/** Puts a member's values where command, env and input name them, each once: what a value holds is not looked at again. */
export function fillIn(template: Record<string, unknown>, member: SweepMember): Filled {
  const known = valuesOf(member)
  const issues: SpecIssue[] = []
  const fill = (text: string, path: string): string =>
    text.replaceAll(PLACE, (_, name: string) => {
      const value = known.get(name)
      if (value === undefined) issues.push({ path, message: unknownName(name, [...known.keys()]) })
      return String(value)
    })
  const spec = { ...template }
  if ('command' in template) spec.command = filled(template.command, 'command', fill)
  if ('env' in template) spec.env = filled(template.env, 'env', fill)
  if ('input' in template)
    spec.input = filled(template.input, 'input', (text, path) => {
      const only = [...text.matchAll(PLACE)][0]
      const whole = only?.[0] === text ? known.get(only[1] ?? '') : undefined
      return whole ?? fill(text, path)
    })
  return issues.length > 0 ? { issues } : { spec }
}

function valuesOf({ index, size, values }: SweepMember): ReadonlyMap<string, SweepValue> {
  const matrix = Object.entries(values).map(([name, value]) => [`matrix.${name}`, value] as const)
  return new Map<string, SweepValue>([...matrix, ['array.index', index], ['array.size', size]])
}

function filled(value: unknown, path: string, fill: (text: string, path: string) => SweepValue): unknown {
  if (typeof value === 'string') return fill(value, path)
  if (Array.isArray(value)) return value.map((one, at) => filled(one, `${path}[${at}]`, fill))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, `${path}.${key}`, fill)]))
}

function unknownName(name: string, known: readonly string[]): string {
  const close = nearest(name, known)
  return `unknown name "${name}"${close === null ? '' : `; did you mean "${close}"?`} (known: ${known.join(', ')})`
}

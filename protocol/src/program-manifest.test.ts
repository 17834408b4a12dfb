import { expect, it } from 'vitest'
import { type JobSpec, parseJobSpec } from './job-spec.ts'
import { checkProgram, ProgramManifest, withProgramNeeds } from './program-manifest.ts'

const MANIFEST = ProgramManifest.parse({
  type: 'training',
  title: 'Training',
  inputs: {
    dataset: { type: 'string', required: true },
    epochs: { type: 'integer', default: 1, min: 1, max: 10 },
    rate: { type: 'number', min: 0 },
    mode: { type: 'string', choices: ['a', 'b'] },
    items: { type: 'array' },
    more: { type: 'object' },
    any: { type: 'any' },
  },
  needs: { gpu: 'required', network: 'internet' },
})

function specOf(input: Record<string, never>, more = {}): JobSpec {
  const parsed = parseJobSpec({ type: 'training', input, ...more })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.spec
}
const issuesOf = (input: Record<string, unknown>, more = {}) =>
  checkProgram(MANIFEST, specOf(input as Record<string, never>, more)).map(({ path, message }) => `${path}: ${message}`)

it('an input that fits is taken, and what is left out is the program’s to choose', () => {
  expect(issuesOf({ dataset: 'x' })).toEqual([])
  expect(issuesOf({ dataset: 'x', epochs: 10, rate: 0.5, mode: 'a', items: [1], more: { a: 1 }, any: false })).toEqual(
    [],
  )
})

it.each([
  [{}, 'input.dataset: missing; allowed: string'],
  [{ dataset: 'x', epoch: 1 }, 'input.epoch: unknown input "epoch"; did you mean "epochs"? (training has: dataset, '],
  [{ dataset: 'x', epochs: 11 }, 'input.epochs: found 11; allowed: integer from 1 to 10'],
  [{ dataset: 'x', epochs: 1.5 }, 'input.epochs: found 1.5; allowed: integer from 1 to 10'],
  [{ dataset: 'x', rate: '1' }, 'input.rate: found "1"; allowed: number from 0'],
  [{ dataset: 'x', mode: 'c' }, 'input.mode: found "c"; allowed: "a", "b"'],
  [{ dataset: 'x', items: {} }, 'input.items: found {}; allowed: array'],
  [{ dataset: 'x', more: [] }, 'input.more: found []; allowed: object'],
])('an input the program would refuse is refused with both facts: %j', (input, sentence) => {
  expect(issuesOf(input)).toEqual([expect.stringContaining(sentence)])
})

it('a program that runs once is no session', () => {
  expect(issuesOf({ dataset: 'x' }, { session: {} })).toEqual([
    'session: found session; the program of type "training" runs once and ends',
  ])
})

it('what the program needs and the job leaves open is filled in', () => {
  expect(withProgramNeeds(specOf({}), MANIFEST)).toMatchObject({ network: 'internet', resources: { gpus: 1 } })
  const said = specOf({}, { network: 'none', resources: { gpus: 2 } })
  expect(withProgramNeeds(said, MANIFEST)).toBe(said)
})

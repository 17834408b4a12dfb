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

const SHARED = ProgramManifest.parse({ type: 'training', title: 'x', inputs: {}, ranks: true })
const shared = (gpus: number, input: object = {}, more: object = {}) => {
  const { ranks, resources } = withProgramNeeds(specOf(input as never, { resources: { gpus }, ...more }), SHARED)
  return { ranks, gpus: resources.gpus }
}

it.each([
  ['no device', shared(0), { ranks: null, gpus: 0 }],
  ['one', shared(1), { ranks: null, gpus: 1 }],
  ['several: one process for each', shared(4), { ranks: 'gpus', gpus: 4 }],
  ['several and a smaller number', shared(4, { nproc_per_node: 2 }), { ranks: 2, gpus: 4 }],
  ['fewer than the number', shared(2, { training: { nproc_per_node: 8 } }), { ranks: 2, gpus: 2 }],
  ['no device and a number', shared(0, { nproc_per_node: 2 }), { ranks: 2, gpus: 0 }],
  ['several, and may use one', shared(4, { training: { allow_multi_gpu: false } }), { ranks: null, gpus: 1 }],
  ['several, and may use all', shared(4, { allow_multi_gpu: true }), { ranks: 'gpus', gpus: 4 }],
  ['several and ranks of its own', shared(4, {}, { ranks: 3 }), { ranks: 3, gpus: 4 }],
])('a job of a program that can share its work has %s', (_, found, wanted) => {
  expect(found).toEqual(wanted)
})

it('a program that cannot share its work is one process on all its devices, or on the one it may use', () => {
  const alone = { ...SHARED, ranks: false }
  const spec = specOf({ allow_multi_gpu: false } as never, { resources: { gpus: 2 } })
  expect(withProgramNeeds(specOf({}, { resources: { gpus: 2 } }), alone)).toMatchObject({ ranks: null })
  expect(withProgramNeeds(spec, alone)).toMatchObject({ ranks: null, resources: { gpus: 1 } })
})

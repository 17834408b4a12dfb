import { describe, expect, it } from 'vitest'
import { expandSpec } from './expand-spec.ts'

const noRest = async () => {}
/** How a spec names a value. */
const at = (name: string) => `\${{ ${name} }}`

async function membersOf(spec: unknown) {
  const expansion = await expandSpec(spec, noRest)
  if (!expansion.ok) throw new Error(JSON.stringify(expansion.issues))
  return expansion.expanded
}

async function issueOf(spec: unknown) {
  const expansion = await expandSpec(spec, noRest)
  return expansion.ok ? null : expansion.issues[0]
}

describe('a spec that makes a group', () => {
  it('is itself without array and matrix', async () => {
    const { specs, group } = await membersOf({ command: 'x' })
    expect([specs.length, group]).toEqual([1, null])
  })

  it('has a member for each index of an array', async () => {
    const { specs, group } = await membersOf({ name: 'train', command: 'x', array: 3, maxParallel: 2 })
    expect(group).toEqual({ name: 'train', maxParallel: 2 })
    expect(specs.map(spec => spec.name)).toEqual(['train[0]', 'train[1]', 'train[2]'])
    expect(specs[2]?.env).toEqual({ STOKER_ARRAY_INDEX: '2', STOKER_ARRAY_SIZE: '3' })
  })

  it('counts an array from, to and by a step, the end included', async () => {
    const { specs } = await membersOf({ command: 'x', array: { from: 10, to: 20, step: 5 } })
    expect(specs.map(spec => spec.env.STOKER_ARRAY_INDEX)).toEqual(['10', '15', '20'])
    expect(specs.map(spec => spec.name)).toEqual(['x[10]', 'x[15]', 'x[20]'])
  })

  it('has every combination of a matrix, without the excluded and with the included ones', async () => {
    const matrix = { lr: [0.1, 0.01], seed: [1, 2], exclude: [{ lr: 0.1, seed: 2 }], include: [{ seed: 9, lr: 1 }] }
    const { specs } = await membersOf({ name: 't', command: 'x', matrix })
    expect(specs.map(spec => spec.name)).toEqual([
      't[lr=0.1,seed=1]',
      't[lr=0.01,seed=1]',
      't[lr=0.01,seed=2]',
      't[lr=1,seed=9]',
    ])
    expect(specs[3]?.env).toEqual({
      MATRIX_LR: '1',
      MATRIX_SEED: '9',
      STOKER_ARRAY_INDEX: '3',
      STOKER_ARRAY_SIZE: '4',
    })
  })

  it('crosses matrix and array', async () => {
    const { specs } = await membersOf({ name: 't', command: 'x', matrix: { m: ['a', 'b'] }, array: 2 })
    expect(specs.map(spec => spec.name)).toEqual(['t[m=a,0]', 't[m=a,1]', 't[m=b,0]', 't[m=b,1]'])
  })

  it('puts values into command, env and input, and leaves what belongs to the program', async () => {
    const { specs } = await membersOf({
      command: ['train', `--lr=${at('matrix.lr')}`, at('matrix.model').replaceAll(' ', ''), at('github.sha'), '$HOME'],
      env: { SEED: `s${at('array.index')}` },
      input: {
        lr: at('matrix.lr'),
        note: `lr ${at('matrix.lr')} of ${at('array.size')}`,
        deep: [{ m: at('matrix.model') }],
      },
      matrix: { lr: [0.5], model: [at('matrix.lr')] },
      array: 1,
    })
    expect(specs[0]?.command).toEqual(['train', '--lr=0.5', at('matrix.lr'), at('github.sha'), '$HOME'])
    expect(specs[0]?.env.SEED).toBe('s0')
    expect(specs[0]?.input).toEqual({ lr: 0.5, note: 'lr 0.5 of 1', deep: [{ m: at('matrix.lr') }] })
  })

  it('keeps names within their length', async () => {
    const { specs } = await membersOf({ name: 'n'.repeat(200), command: 'x', matrix: { m: ['v'.repeat(300)] } })
    expect(specs[0]?.name).toHaveLength(200)
  })

  it('takes ten thousand members', async () => {
    expect((await membersOf({ type: 'noop', array: 10_000 })).specs).toHaveLength(10_000)
  })

  it.each<[string, object, string, RegExp]>([
    [
      'too many',
      { matrix: { a: range(101), b: range(100) } },
      '(whole)',
      /makes 10100 jobs; a group has at most 10000/,
    ],
    ['too many, crossed', { array: 5001, matrix: { a: [1, 2] } }, '(whole)', /makes 10002 jobs/],
    ['no index', { array: 0 }, 'array', /found 0/],
    ['a backward range', { array: { from: 3, to: 1 } }, 'array', /"from" above "to"/],
    ['an unknown key of an array', { array: { from: 1, to: 2, stop: 3 } }, 'array.stop', /did you mean "step"/],
    ['no names', { matrix: {} }, 'matrix', /found no name/],
    ['no values', { matrix: { a: [] } }, 'matrix.a', /at least one value/],
    ['a value twice', { matrix: { a: [1, 2, 1] } }, 'matrix.a', /found 1 twice/],
    ['names of one variable', { matrix: { lr: [1], LR: [2] } }, 'matrix.LR', /MATRIX_LR/],
    ['an odd name', { matrix: { 'a-b': [1] } }, 'matrix.a-b', /letters, digits/],
    ['an exclude of nothing', { matrix: { a: [1], exclude: [{ a: 2 }] } }, 'matrix.exclude[0]', /no combination/],
    ['an exclude of all', { matrix: { a: [1], exclude: [{ a: 1 }] } }, 'matrix.exclude', /no combination/],
    ['an exclude of an unknown name', { matrix: { a: [1], exclude: [{ b: 1 }] } }, 'matrix.exclude[0].b', /known: a/],
    ['half an include', { matrix: { a: [1], b: [1], include: [{ a: 2 }] } }, 'matrix.include[0].b', /missing/],
    ['an include twice', { matrix: { a: [1], include: [{ a: 1 }] } }, 'matrix.include[0]', /already/],
    ['maxParallel alone', { maxParallel: 3 }, 'maxParallel', /without "array" or "matrix"/],
    ['an unknown place', { array: 2, env: { A: at('matrix.lr') } }, 'env.A', /unknown name "matrix.lr"/],
    ['a mistyped place', { matrix: { lr: [1] }, env: { A: at('matrix.l') } }, 'env.A', /did you mean "matrix.lr"/],
    [
      'a variable of its own',
      { array: 2, env: { STOKER_ARRAY_INDEX: '7' } },
      'env.STOKER_ARRAY_INDEX',
      /sets this variable/,
    ],
    ['a wrong template', { array: 2, timeout: 'soon' }, 'timeout', /found "soon"/],
  ])('refuses %s with its place', async (_, spec, path, message) => {
    expect(await issueOf({ command: 'x', ...spec })).toEqual({ path, message: expect.stringMatching(message) })
  })

  it('suggests its keys for mistyped ones', async () => {
    expect((await issueOf({ command: 'x', aray: 3 }))?.message).toContain('did you mean "array"?')
  })
})

function range(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at)
}

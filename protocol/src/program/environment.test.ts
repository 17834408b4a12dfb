import { expect, it } from 'vitest'
import { factsEnv, type ProgramFacts } from './environment.ts'

const env = (facts: Partial<ProgramFacts> = {}) =>
  factsEnv({
    input: {},
    env: {},
    taskId: 'the-task',
    sessionId: null,
    modelName: '',
    modelPath: '/models',
    gpuDevice: '',
    ...facts,
  })

it('has every documented variable of a one-off without input, and no other', () => {
  expect(env()).toEqual({
    PYTHONUNBUFFERED: '1',
    MODEL_NAME: '',
    TASK_METADATA: '{}',
    TASK_ID: 'the-task',
    MODEL_PATH: '/models',
    GPU_DEVICE: '',
  })
})

it('spells input as programs expect it', () => {
  const input = { 'my key': 'v', ok: true, off: false, none: null, n: 1.5, list: [1, 'a'], o: { a: null } }
  expect(env({ input })).toMatchObject({
    METADATA_MY_KEY: 'v',
    METADATA_OK: 'True',
    METADATA_OFF: 'False',
    METADATA_NONE: 'None',
    METADATA_N: '1.5',
    METADATA_LIST: '[1,"a"]',
    METADATA_O: '{"a":null}',
    TASK_METADATA: JSON.stringify(input),
  })
})

it.each([
  ['topic', 'METADATA_TOPIC'],
  ['max-tokens', 'METADATA_MAX_TOKENS'],
  ['a.b/c', 'METADATA_A_B_C'],
  ['höhe', 'METADATA_H_HE'],
  ['🔥x', 'METADATA__X'],
  ['straße', 'METADATA_STRASSE'],
  ['', 'METADATA_'],
])('writes the key %j as %s: one mark for each character that is no letter, digit or underscore', (key, name) => {
  expect(env({ input: { [key]: 'v' } })).toHaveProperty([name], 'v')
})

it('gives every text a variable can hold as it is, and keeps the others exact in TASK_METADATA', () => {
  const { METADATA_A, METADATA_B, TASK_METADATA } = env({ input: { a: '$(rm) "x"\n\t=', b: 'x\0y' } })
  expect({ METADATA_A, METADATA_B }).toEqual({ METADATA_A: '$(rm) "x"\n\t=', METADATA_B: 'x\uFFFDy' })
  expect(JSON.parse(TASK_METADATA ?? '')).toEqual({ a: '$(rm) "x"\n\t=', b: 'x\0y' })
})

it('lets the spec override metadata, model name and buffering, never what is known for certain', () => {
  const own = { METADATA_X: '2', MODEL_NAME: 'mine', PYTHONUNBUFFERED: '', EXTRA: 'e' }
  const forged = { TASK_ID: 'f', SESSION_ID: 'f', MODEL_PATH: 'f', GPU_DEVICE: 'f' }
  const facts = { input: { x: 1 }, modelName: 'given', gpuDevice: '1', sessionId: 'the-session' }
  expect(env({ ...facts, env: { ...own, ...forged } })).toMatchObject({
    ...own,
    TASK_ID: 'the-task',
    SESSION_ID: 'the-session',
    MODEL_PATH: '/models',
    GPU_DEVICE: '1',
  })
  expect(env(facts).MODEL_NAME).toBe('given')
})

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type JobSpec, parseJobSpec } from '@stoker/protocol'
import { expect, test } from 'vitest'
import { readProgramBook } from '../programs/program-book.ts'
import { FILE_NAMES, type FileTexts, loadPresets } from './load-presets.ts'
import { presetSpec } from './preset-spec.ts'
import { readSettings } from './settings.ts'

const settings = readSettings({})
const programs = await readProgramBook(join(import.meta.dirname, '../../../jobs'))
const check = (spec: JobSpec) => programs.check(spec)
const place = { folder: '/presets', settings, home: '/home/ada', check }
const EXAMPLES = join(import.meta.dirname, '../../../docs/examples/presets')
const NO_FILES = Object.fromEntries(FILE_NAMES.map(name => [name, null])) as FileTexts

const load = (texts: Partial<FileTexts>, env = {}) =>
  loadPresets({ ...NO_FILES, ...texts }, {}, { ...place, settings: readSettings(env) }).book
const formA = (text: string, env = {}) => load({ 'model_presets.yaml': text }, env)
const told = (book: ReturnType<typeof load>) =>
  book.errors.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`)

test('the examples load as they are, both forms side by side', async () => {
  const texts = await Promise.all(FILE_NAMES.map(async name => [name, await readFile(join(EXAMPLES, name), 'utf8')]))
  const { presets, errors } = load(Object.fromEntries(texts))
  expect(errors).toEqual([])
  expect([...presets.keys()]).toEqual(['test-loading/inference', 'words/count', 'echo/chat', 'loading-test', 'summary'])
  expect(presets.get('loading-test')).toMatchObject({
    model: null,
    difficulty: 'low',
    timeoutMs: 60_000,
    program: { source_path: '/home/ada/gpu-workers/test/loading-worker' },
    file: 'task_definitions.yaml',
    line: 1,
  })
  expect(presets.get('summary')).toMatchObject({
    model: 'llama-7b',
    program: { docker_image: 'llama-worker:1.4', model: { path: '/data/models/llama-7b' } },
  })
  for (const preset of presets.values()) expect(parseJobSpec(presetSpec(preset, settings, {})).ok).toBe(true)
})

test('values of env_vars are text as written', () => {
  const { presets } = formA(
    'models: {m: {p: {command: [x], env_vars: {A: 1.10, B: true, C: 0x10, D: "q", E: }, build_args: {V: 3.10}}}}',
  )
  expect(presets.get('m/p')?.program).toMatchObject({
    env_vars: { A: '1.10', B: 'true', C: '0x10', D: 'q', E: '' },
    build_args: { V: '3.10' },
  })
})

test('anchors and merges share what presets have in common', () => {
  const book = formA(`models:
  m:
    a: &base {docker_image: i, env_vars: &env {N: 1}, network: internet}
    b: {<<: *base, env_vars: *env, command: [y]}
    c: {<<: *base, comand: [z]}
`)
  expect(told(book)[0]).toMatch(
    /^model_presets\.yaml:5:20: m\/c\.comand: unknown key "comand"; did you mean "command"\?/,
  )
  const { presets } = formA('models: {m: {a: &b {docker_image: i, env_vars: {N: 1}}, c: {<<: *b, command: [y]}}}')
  expect(presets.get('m/c')?.program).toEqual({ docker_image: 'i', env_vars: { N: '1' }, command: ['y'] })
})

test.each([
  ['model_presets.yaml', 'models:\n  m:\n    p: [x\n', /:4:1: |:3:8: /],
  ['model_presets.yaml', '', /:1:1: the file is empty/],
  ['model_presets.yaml', '- a\n', /:1:1: missing "models"/],
  ['model_presets.yaml', 'models: {}\nmodel: {}\n', /:2:1: unknown key "model" \(known: models\)/],
  ['model_presets.yaml', 'models:\n  m: 7\n', /:2:3: found 7; allowed: a map of keys/],
  [
    'model_presets.yaml',
    'models:\n  m:\n    p:\n      docker_img: x\n',
    /:4:7: m\/p\.docker_img: .*did you mean "docker_image"/,
  ],
  ['model_presets.yaml', 'models: {m: {p: {command: 7}}}', /:1:18: m\/p\.command: found 7/],
  [
    'model_presets.yaml',
    'models: {m: {p: {command: [x], env_vars: {A: [1]}}}}',
    /:1:43: m\/p\.env_vars\.A: found \[1\]/,
  ],
  [
    'model_presets.yaml',
    'models: {m: {p: {command: [x], session: {idletime: 1}}}}',
    /session\.idletime: .*did you mean "idleTimeout"/,
  ],
  ['model_presets.yaml', 'models: {m: {p: {command: [x]}, p: {command: [y]}}}', /:1:33: Map keys must be unique/],
  [
    'model_presets.yaml',
    'models: {m: {p: {program: inference, command: [x]}}}',
    /m\/p\.command: found a command; a job of type "inference" has none/,
  ],
  ['model_presets.yaml', 'models: {m: {p: {program: inferenc}}}', /m\/p\.program: found "inferenc"/],
  [
    'model_presets.yaml',
    'models: {m: {p: {type: session, program: mnist_training}}}',
    /m\/p\.session: found session; the program of type "mnist_training" runs once and ends/,
  ],
  [
    'model_presets.yaml',
    'models: {m: {p: {env_vars: {A: b}}}}',
    /m\/p: found neither docker_image, command nor program/,
  ],
  [
    'model_presets.yaml',
    'models: {m: {p: {command: [x], serves: chat}}}',
    /:1:32: m\/p\.serves: found serves; only a preset of type session/,
  ],
  [
    'model_presets.yaml',
    'models: {m: {p: {command: [x], container: {user: root}}}}',
    /:1:32: m\/p\.container: .*without an image/,
  ],
  [
    'model_presets.yaml',
    'models: {m: {p: {docker_image: "a b"}}}',
    /docker_image: found "a b"; an image is named like/,
  ],
  [
    'model_presets.yaml',
    'models: {m: {p: {command: [x], timeout_seconds: 1801}}}',
    /:1:32: .*found 1801; MAX_TASK_TIMEOUT allows 1800/,
  ],
  [
    'model_presets.yaml',
    'models: {m: {p: {command: [x], type: session, session: {min: 3, max: 2}}}}',
    /found min 3; max is 2/,
  ],
  ['model_presets.yaml', 'models: {m: {"a/b": {command: [x]}}}', /:1:14: "a\/b" is no name of a preset/],
  [
    'model_presets.yaml',
    'models: {m: {p: {command: [x], model: {path: models}}}}',
    /:1:40: m\/p\.model\.path: .*begins with "\/"/,
  ],
  ['task_definitions.yaml', 'a: {}\n', /:1:1: a: task_actions\.yaml has no action for "a"/],
  ['task_definitions.yaml', 'a: {timeout: 7}\n', /:1:5: a\.timeout: unknown key "timeout".*timeout_seconds/],
  ['task_actions.yaml', 'a: {docker_image: }\nb: {buildargs: {}}\n', /:2:5: b\.buildargs: .*did you mean "build_args"/],
  ['model_paths.yaml', 'a: {size_gb: 3}\n', /:1:1: a: .*a model has a path, or files to fetch/],
] as const)('%s: %j is told with its place', (file, text, message) => {
  expect(told(load({ [file]: text }))[0]).toMatch(
    new RegExp(`^${file}${message.source}|^${file}:\\d+:\\d+: .*${message.source}`),
  )
})

test('a definition without an action names the nearest one, and the others load', () => {
  const book = load({
    'task_definitions.yaml': 'loading-test: {}\nother: {model_id: m}\n',
    'task_actions.yaml': 'loading-tset: {command: [x]}\nm: {command: [y]}\n',
  })
  expect(told(book)).toEqual([
    'task_definitions.yaml:1:1: loading-test: task_actions.yaml has no action for "loading-test"; did you mean "loading-tset"?',
  ])
  expect([...book.presets.keys()]).toEqual(['other'])
})

test('where the actions cannot be read they are told, not every definition', () => {
  const book = load({ 'task_definitions.yaml': 'a: {}\nb: {}\n', 'task_actions.yaml': 'a: {comand: [x]}\n' })
  expect(told(book)).toEqual([expect.stringMatching(/^task_actions\.yaml:1:5: a\.comand/)])
})

test('of a broken file the last good text stays in force, the other files move on', () => {
  const files = (actions: string, definitions: string) => ({
    ...NO_FILES,
    'task_actions.yaml': actions,
    'task_definitions.yaml': definitions,
  })
  const first = loadPresets(files('a: {command: [x]}', 'a: {}'), {}, place)
  const second = loadPresets(files('a: {comand: [x]}', 'a: {description: new}'), first.good, place)
  expect(second.book.errors).toHaveLength(1)
  expect(second.book.presets.get('a')).toMatchObject({ description: 'new', program: { command: ['x'] } })
  expect(second.good).toEqual({
    'task_actions.yaml': 'a: {command: [x]}',
    'task_definitions.yaml': 'a: {description: new}',
  })
  const gone = loadPresets({ ...NO_FILES, 'task_definitions.yaml': 'a: {}' }, second.good, place)
  expect([...gone.book.presets]).toEqual([])
})

test('a bomb of aliases and a nest without end are refused, not unpacked', () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'.replace(/./g, c => `${c}: &${c} [${`*${String.fromCharCode(c.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}`
  expect(told(formA(`models: {}\n${bomb}`))).toEqual([
    'model_presets.yaml:1:1: its anchors and aliases make more than 1000 values',
  ])
  const nested = formA(`models: ${'['.repeat(20_000)}`).errors
  expect(nested.length).toBeGreaterThan(0)
  expect(nested.length).toBeLessThanOrEqual(20)
})

test('no name reaches a prototype', () => {
  const { presets, errors } = formA('models: {__proto__: {p: {command: [x]}}, constructor: {p: {command: [y]}}}')
  expect(errors.map(({ message }) => message)).toEqual(['"__proto__" is no name of a model'])
  expect([...presets.keys()]).toEqual(['constructor/p'])
  expect(({} as { p?: unknown }).p).toBeUndefined()
})

import { parseJobSpec } from '@stoker/protocol'
import { expect, test } from 'vitest'
import { expandPreset, namesPreset } from './expand-preset.ts'
import { FILE_NAMES, type FileTexts, loadPresets } from './load-presets.ts'
import { findPreset, type PresetBook } from './preset.ts'
import { presetSpec } from './preset-spec.ts'
import { readSettings } from './settings.ts'

const TEXTS = {
  'model_presets.yaml': `models:
  test-loading:
    inference: {docker_image: "loading-worker:latest", command: [python, /app/worker.py], env_vars: {A: b}}
    named: {docker_image: i, env_vars: {MODEL_NAME: other}}
    open: {docker_image: i, container: {user: root, workdir: /app, writableRoot: true, tmp: 1Gi, shm: 2Gi}, network: internet, pull: always}
  small:
    here: {command: [x], resources: {cpus: 4, gpus: 1}, metadata: {a: 1, b: {c: 2}}, timeout_seconds: 60, placement: {tags: [fast]}, task_difficulty: high}
  meta-llama/Llama-3:
    chat: {type: session, serves: chat, docker_image: llm, metadata: {t: 0.5}, session: {idleTimeout: 10m, concurrency: 4, max: 3}}
`,
  'task_definitions.yaml': 'loading-test: {task_difficulty: low, model_id: llama}\n',
  'task_actions.yaml': 'loading-test: {docker_image: "w:1", source_path: ~/w, build_args: {V: "1 2"}}\n',
  'model_paths.yaml':
    'llama: {path: ~/models/llama}\nsmall: {files: [{path: a.bin, url: "https://h.example/a", sha256: "' +
    `${'a'.repeat(64)}"}]}\n`,
}
const NO_FILES = Object.fromEntries(FILE_NAMES.map(name => [name, null])) as FileTexts
const settings = readSettings({ TASK_MEMORY_LIMIT: '16g', TASK_CPU_QUOTA: '200000', SESSION_QUEUE_MAX_SIZE: '9' })
const { book } = loadPresets(
  { ...NO_FILES, ...TEXTS },
  {},
  { folder: '/p', settings, home: '/home/ada', check: spec => ({ spec }) },
)
const spec = (name: string, request = {}) => presetSpec(findPreset(book, name), settings, request)
const expand = (value: Record<string, unknown>, of: PresetBook = book) => expandPreset(value, of, settings)

test('the folder of this file is sound', () => expect(book.errors).toEqual([]))

test('a preset of form A is a whole job in the folder of its image', () => {
  expect(spec('test-loading/inference')).toEqual({
    name: 'test-loading/inference',
    preset: 'test-loading/inference',
    image: 'loading-worker:latest',
    command: ['python', '/app/worker.py'],
    env: { MODEL_NAME: 'test-loading', A: 'b' },
    input: {},
    timeout: 300,
    resources: { cpus: 2, memory: 16 * 2 ** 30 },
    container: { workdir: 'image' },
  })
  expect(spec('test-loading/named').env).toEqual({ MODEL_NAME: 'other' })
})

test('relaxations go into the container as they are asked for', () => {
  const parsed = parseJobSpec(spec('test-loading/open'))
  expect(parsed).toMatchObject({
    ok: true,
    spec: {
      network: 'internet',
      container: {
        user: 'root',
        workdir: '/app',
        writableRoot: true,
        tmpBytes: 2 ** 30,
        shmBytes: 2 ** 31,
        pull: 'always',
      },
    },
  })
})

test('a preset of form B has the path of its model, its difficulty as a wish, and an image no registry has', () => {
  expect(spec('loading-test')).toMatchObject({
    env: { MODEL_NAME: 'llama' },
    model: { name: 'llama', path: '/home/ada/models/llama' },
    labels: { difficulty: 'low' },
    placement: { tags: { prefer: ['difficulty:low'] } },
    pull: 'never',
  })
})

test('the request wins: metadata at top level, timeout, difficulty, resources and labels key by key', () => {
  const made = spec('small/here', {
    input: { b: 3 },
    timeout: '90s',
    difficulty: 'low',
    resources: { cpus: 1 },
    labels: { team: 'a' },
    env: { EXTRA: 'e' },
    name: 'mine',
    priority: 7,
  })
  expect(made).toMatchObject({
    name: 'mine',
    priority: 7,
    input: { a: 1, b: 3 },
    timeout: '90s',
    resources: { cpus: 1, gpus: 1, memory: 16 * 2 ** 30 },
    labels: { difficulty: 'low', team: 'a' },
    env: { MODEL_NAME: 'small', EXTRA: 'e' },
    placement: { tags: { require: ['fast'], prefer: ['difficulty:low'] } },
    model: { name: 'small', files: [{ path: 'a.bin' }] },
  })
  expect(made).not.toHaveProperty('image')
  expect(parseJobSpec(made)).toMatchObject({ ok: true, spec: { timeoutMs: 90_000, container: null } })
})

test('a session preset becomes a task for its sessions, and a session when asked', () => {
  const name = 'meta-llama/Llama-3/chat'
  expect(spec(name, { input: { prompt: 'hi' } })).toEqual({
    name,
    preset: name,
    type: 'task',
    task: { preset: name },
    input: { t: 0.5, prompt: 'hi' },
    timeout: 300,
  })
  const parsed = parseJobSpec(spec(name, { as: 'session' }))
  expect(parsed).toMatchObject({
    ok: true,
    spec: {
      preset: name,
      timeoutMs: null,
      env: { MODEL_NAME: 'meta-llama/Llama-3' },
      session: { concurrency: 4, queue: 9, idleMs: 600_000, lifetimeMs: 3_600_000 },
    },
  })
  expect(parseJobSpec(spec('test-loading/inference', { as: 'session' }))).toMatchObject({
    ok: true,
    spec: { session: { concurrency: 1, idleMs: 300_000 }, container: { image: 'loading-worker:latest' } },
  })
})

test('a name and what is said beside it are expanded; a task for a preset gets its metadata and timeout', () => {
  expect(namesPreset({ command: ['x'] })).toBe(false)
  expect(namesPreset({ preset: 7 })).toBe(false)
  const name = 'meta-llama/Llama-3/chat'
  expect(expand({ task: { preset: name }, input: { p: 1 } })).toEqual(expand({ preset: name, input: { p: 1 } }))
  expect(expand({ task: { preset: 'nobody/knows' } })).toEqual({ spec: { task: { preset: 'nobody/knows' } } })
  expect(expand({ preset: 'small/here', array: 3 })).toMatchObject({ spec: { array: 3, command: ['x'] } })
  expect(expand({ preset: 'small/here', session: { idleTimeout: '1m' } })).toMatchObject({
    spec: { session: { idleTimeout: '1m', maxLifetime: 3600 }, command: ['x'] },
  })
})

test.each([
  [
    { preset: 'small/here', command: ['y'] },
    'command',
    /found command; the preset "small\/here" says it \(beside it: name, input, /,
  ],
  [{ preset: 'small/here', image: 'y', network: 'host' }, 'image', /found image/],
  [{ preset: 'meta-llama/Llama-3/chat', resources: { gpus: 2 } }, 'resources', /a task runs in one as it is/],
  [{ preset: 'small/here', timeout: '31m' }, 'timeout', /found 31 m; .* may take 30 m \(MAX_TASK_TIMEOUT\)/],
  [{ preset: 'small/here', input: [1] }, 'input', /found \[1\]; allowed: object/],
  [{ preset: 'small/here', input: null }, 'input', /found null/],
])('%j is refused at %s', (value, path, message) => {
  const expanded = expand(value)
  expect('issues' in expanded ? expanded.issues[0] : expanded).toEqual({
    path,
    message: expect.stringMatching(message),
  })
})

test('an unknown preset is refused with the nearest name', () => {
  expect(() => expand({ preset: 'test-loading/inferense' })).toThrow(
    'no preset "test-loading/inferense"; did you mean "test-loading/inference"?',
  )
  expect(() => expand({ preset: 'x' }, { folder: '/p', presets: new Map(), errors: [] })).toThrow(
    'no preset "x"; /p holds none',
  )
})

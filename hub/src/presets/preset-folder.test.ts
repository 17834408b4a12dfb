import { mkdir, mkdtemp, rename, rm, truncate, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { PresetBook } from './preset.ts'
import { PresetFolder } from './preset-folder.ts'
import { readSettings } from './settings.ts'

let root = ''
let folder = ''
let logged: string[] = []
let now = 0
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'stoker-presets-'))
  folder = join(root, 'presets')
  await mkdir(folder)
  logged = []
  now = Date.now()
})
afterEach(() => rm(root, { recursive: true, force: true }))

const open = () =>
  PresetFolder.open({
    folder,
    keptFile: join(root, 'kept.json'),
    settings: readSettings({}),
    home: '/home/ada',
    check: spec => ({ spec }),
    now: () => now,
    log: (level, text) => logged.push(`${level} ${text.replaceAll(root, '')}`),
  })
const file = (name = 'model_presets.yaml') => join(folder, name)
const GOOD = 'models: {m: {p: {command: [one]}}}\n'
const write = (text: string, name?: string) => writeFile(file(name), text)
const commands = ({ presets }: PresetBook) => [...presets.values()].map(({ program }) => program.command)
const broken = ({ errors }: PresetBook) => errors.map(({ file, line, column }) => `${file}:${line}:${column}`)

test('edits count from the next request on, also many within one tick of the file times', async () => {
  const presets = await open()
  expect(commands(await presets.current())).toEqual([])
  for (const word of ['one', 'two', 'six', 'ten']) {
    await write(GOOD.replace('one', word))
    expect(commands(await presets.current())).toEqual([[word]])
  }
  now += 10_000
  expect(commands(await presets.current())).toEqual([['ten']])
  await write(GOOD)
  now = Date.now() + 10_000
  expect(commands(await presets.current())).toEqual([['one']])
})

test('a folder that is made later is found, and one that is gone takes its presets along', async () => {
  await rm(folder, { recursive: true })
  const presets = await open()
  expect(commands(await presets.current())).toEqual([])
  await mkdir(folder)
  await write(GOOD)
  expect(commands(await presets.current())).toEqual([['one']])
  await rm(folder, { recursive: true })
  await presets.current()
  now += 1000
  expect(commands(await presets.current())).toEqual([])
})

test('whoever listens is told once for an edit, and not for a look that finds nothing new', async () => {
  await write(GOOD)
  const presets = await open()
  const heard: PresetBook[] = []
  const stop = presets.onChange(book => heard.push(book))
  await presets.current()
  expect(heard).toEqual([])
  await write(GOOD.replace('one', 'two'))
  await Promise.all([presets.current(), presets.current(), presets.current()])
  expect(heard.map(commands)).toEqual([[['two']]])
  stop()
  await write(GOOD)
  await presets.current()
  expect(heard).toHaveLength(1)
})

test('a request never gets what a look found that began before it', async () => {
  await write(GOOD)
  const presets = await open()
  const early = presets.current()
  await write(GOOD.replace('one', 'two'))
  expect(commands(await presets.current())).toEqual([['two']])
  await early
})

test('a broken edit keeps the last good version in force, says so once in the log, and a mended one counts again', async () => {
  await write(GOOD)
  const presets = await open()
  await write('models:\n  m:\n    p: {comand: [two]}\n')
  const book = await presets.current()
  expect(commands(book)).toEqual([['one']])
  expect(broken(book)).toEqual(['model_presets.yaml:3:9'])
  await presets.current()
  expect(logged.filter(line => line.startsWith('warn'))).toEqual([
    expect.stringMatching(
      /^warn presets: \/presets\/model_presets\.yaml:3:9: m\/p\.comand: unknown key "comand"; did you/,
    ),
  ])
  await write(GOOD.replace('one', 'three'))
  expect(await presets.current()).toMatchObject({ errors: [] })
  expect(commands(await presets.current())).toEqual([['three']])
})

test('the last good version outlives a restart', async () => {
  await write(GOOD)
  await open()
  await write('models: [')
  const book = await (await open()).current()
  expect(commands(book)).toEqual([['one']])
  expect(broken(book)).not.toEqual([])
  await writeFile(join(root, 'kept.json'), '{"model_presets.yaml": 7}')
  expect(commands(await (await open()).current())).toEqual([])
  expect(logged.some(line => line.includes('the last good version cannot be read'))).toBe(true)
})

test('an editor that truncates, renames over or moves away first takes no preset away', async () => {
  await write(GOOD)
  const presets = await open()
  await truncate(file(), 0)
  expect(commands(await presets.current())).toEqual([['one']])
  await writeFile(file('.swp'), GOOD.replace('one', 'two'))
  await rename(file('.swp'), file())
  expect(commands(await presets.current())).toEqual([['two']])
  await rename(file(), file('old~'))
  expect(await presets.current()).toMatchObject({ errors: [] })
  expect(commands(await presets.current())).toEqual([['two']])
  await write(GOOD)
  expect(commands(await presets.current())).toEqual([['one']])
})

test('a file that stays away takes its presets along', async () => {
  await write(GOOD)
  const presets = await open()
  await unlink(file())
  expect(commands(await presets.current())).toEqual([['one']])
  now += 1000
  expect(commands(await presets.current())).toEqual([])
  expect(commands(await (await open()).current())).toEqual([])
})

test('what is too large or no file is an error like any other', async () => {
  await write(`# ${'x'.repeat(2 ** 20)}\n${GOOD}`)
  await mkdir(file('task_actions.yaml'))
  const { errors } = await (await open()).current()
  expect(errors.map(({ file, message }) => `${file}: ${message}`)).toEqual([
    expect.stringMatching(/^model_presets\.yaml: it has 1048\d+ bytes, at most 1048576 are read$/),
    'task_actions.yaml: it is no file',
  ])
})

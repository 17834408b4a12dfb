import { expect, test } from 'vitest'
import { FILE_NAMES, type FileTexts, loadPresets } from '../../presets/load-presets.ts'
import { readSettings } from '../../presets/settings.ts'
import { findModel, modelsOf } from './models.ts'

const TEXT = `models:
  org/big:
    chat: {type: session, serves: chat, command: [x]}
    embed: {type: session, serves: embedding, command: [x]}
  small:
    fast: {type: session, serves: chat, command: [x]}
    good: {type: session, serves: chat, command: [x]}
    embed: {type: session, serves: embedding, command: [x]}
    plain: {type: session, command: [x]}
    once: {command: [x]}
`
const texts = { ...Object.fromEntries(FILE_NAMES.map(name => [name, null])), 'model_presets.yaml': TEXT } as FileTexts
const { book } = loadPresets(
  texts,
  {},
  { folder: '/p', settings: readSettings({}), home: '/', check: spec => ({ spec }) },
)

test('a model has its short name where one preset alone serves a kind of it, and every preset its full one', () => {
  const names = modelsOf(book).map(({ id, preset }) => `${id} = ${preset.name}`)
  expect(names).toEqual([
    'org/big = org/big/chat',
    'org/big = org/big/embed',
    'org/big/chat = org/big/chat',
    'org/big/embed = org/big/embed',
    'small = small/embed',
    'small/embed = small/embed',
    'small/fast = small/fast',
    'small/good = small/good',
  ])
})

test('a name means the preset that serves what is asked for', () => {
  expect(findModel(book, 'org/big', 'chat').name).toBe('org/big/chat')
  expect(findModel(book, 'org/big', 'embedding').name).toBe('org/big/embed')
  expect(findModel(book, 'small/good', 'chat').name).toBe('small/good')
})

test.each([
  ['small', 'chat', 'is served by several presets; name one: small/fast, small/good'],
  ['small', 'completion', 'serves embedding, and was asked for completion'],
  ['smal', 'chat', 'did you mean "small"?'],
  ['small/plain', 'chat', 'does not exist'],
  ['small/once', 'chat', 'does not exist'],
] as const)('%s for %s is refused: %s', (id, kind, why) => {
  expect(() => findModel(book, id, kind)).toThrow(why)
})

test('a hub without serving presets says so', () => {
  expect(() => findModel({ ...book, presets: new Map() }, 'm', 'chat')).toThrow('no preset of this hub serves one')
})

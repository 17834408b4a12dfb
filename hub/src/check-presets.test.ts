import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PresetCheck } from '@stoker/protocol'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkPresets } from './check-presets.ts'
import { readSettings } from './presets/settings.ts'
import { NO_PROGRAMS } from './programs/program-book.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-check-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function check(form: 'human' | 'json' | 'quiet', where = folder) {
  let text = ''
  const isFine = await checkPresets(
    { folder: where, settings: readSettings({}), home: '/h' },
    NO_PROGRAMS,
    form,
    more => {
      text += more
    },
  )
  return { isFine, text }
}

test('a sound folder is named with its presets', async () => {
  await writeFile(join(folder, 'model_presets.yaml'), 'models: {m: {p: {command: [x]}}}')
  expect(await check('human')).toEqual({ isFine: true, text: '1 preset: m/p\n' })
  expect(await check('quiet')).toEqual({ isFine: true, text: '' })
})

test('what is wrong is told with file, line and column', async () => {
  await writeFile(join(folder, 'model_presets.yaml'), 'models:\n  m:\n    p: {comand: [x]}\n')
  await writeFile(join(folder, 'task_definitions.yaml'), 'a: {}\n')
  const { isFine, text } = await check('human')
  expect(isFine).toBe(false)
  expect(text).toMatch(new RegExp(`^${folder}/model_presets.yaml:3:9: m/p.comand: unknown key "comand"; did you mean`))
  expect(text).toContain(`${folder}/task_definitions.yaml:1:1: a: task_actions.yaml has no action for "a"\n`)
  expect(text).toMatch(/2 wrong, 0 presets would be in force\n$/)
  expect(PresetCheck.parse(JSON.parse((await check('json')).text)).errors).toHaveLength(2)
})

test('a folder that is none, or holds no presets, is refused', async () => {
  await expect(check('human', join(folder, 'none'))).rejects.toThrow('is no folder')
  await expect(check('human')).rejects.toThrow('holds no presets: none of model_presets.yaml')
})

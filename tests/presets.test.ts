import { mkdir, writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { logOf } from './harness/jobs.ts'

let house: House
beforeEach(async () => {
  house = await House.open()
  await mkdir(house.path('presets'))
})
afterEach(() => house.close())

const write = (text: string) => writeFile(house.path('presets', 'model_presets.yaml'), text)
const says = (word: string) => `models: {m: {say: {command: 'echo ${word} $METADATA_WHO', metadata: {who: you}}}}\n`
const start = () => house.startHub({ args: ['--presets', house.path('presets')] })

async function said(): Promise<string> {
  const { id } = await house.client.submit({ preset: 'm/say' })
  await expect.poll(async () => (await house.client.job(id)).state, { timeout: 60_000 }).toBe('succeeded')
  return logOf(house.client, id)
}

it('runs presets as they are written now, and as they were last good after a kill of the hub', async () => {
  await write(says('hello'))
  const hub = await start()
  await house.startWorker('w')
  expect(await said()).toBe('hello you\n')
  await write(says('goodbye'))
  expect(await said()).toBe('goodbye you\n')
  await write('models: {m: {say: {comand: x}}}\n')
  await house.client.presets()
  await hub.kill()
  await start()
  expect((await house.client.presets()).errors).toMatchObject([{ file: 'model_presets.yaml', line: 1, column: 20 }])
  expect(await said()).toBe('goodbye you\n')
})

it('checks a folder on the command line, without a hub', async () => {
  await house.startHub()
  await write('models:\n  m:\n    say: {comand: x}\n')
  const broken = await house.stoker(['presets', 'check', house.path('presets')])
  expect(await broken.exited).toMatchObject({ code: 1 })
  expect(broken.stdout).toContain(
    'model_presets.yaml:3:11: m/say.comand: unknown key "comand"; did you mean "command"?',
  )
  await write(says('hello'))
  expect(await (await house.stoker(['presets', 'check', house.path('presets')])).exited).toMatchObject({ code: 0 })
})

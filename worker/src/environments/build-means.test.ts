import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import type { Abilities } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { buildMeans } from './build-means.ts'

const ABLE: Abilities = {
  ...{ executors: ['process'], sandbox: true, unsandboxed: false, internet: true, hostNetwork: false, note: null },
}

it.each([
  ['in a sandbox with the internet', {}, {}, { isolation: 'sandbox', network: 'internet' }],
  ['with the network of the machine where jobs may have it', { hostNetwork: true }, {}, { network: 'host' }],
  ['without a network where pip needs none', { internet: false }, { PIP_NO_INDEX: '1' }, { network: 'none' }],
  ['as programs run where there is no sandbox', { sandbox: false, unsandboxed: true }, {}, { isolation: 'none' }],
] as const)('packages are installed %s', async (_, more, env, means) => {
  expect(await buildMeans({ ...ABLE, ...more }, env)).toMatchObject(means)
})

it.each([
  [{ internet: false }, /no network for pip/],
  [{ sandbox: false, note: 'no sandbox: forbidden' }, /nothing can be installed: no sandbox: forbidden/],
])('nothing is installed without %j', async (more, words) => {
  expect(await buildMeans({ ...ABLE, ...more }, {})).toMatch(words)
})

it('folders that files with settings of pip name are shown, and one that asks no index needs no network', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stoker-pip-'))
  const [home, wheels] = [join(folder, 'home'), join(folder, 'wheels')]
  for (const path of [folder, wheels]) await mkdir(path, { recursive: true }).then(() => chmod(path, 0o755))
  await mkdir(join(home, '.config', 'pip'), { recursive: true })
  const file = join(home, '.config', 'pip', 'pip.conf')
  await writeFile(file, `[global]\nno-index = true\nfind-links = file://${wheels} /no/such/folder\n`, { mode: 0o644 })
  const means = await buildMeans({ ...ABLE, internet: false }, { HOME: home })
  expect(means).toMatchObject({ network: 'none', env: { PIP_CONFIG_FILE: file } })
  if (typeof means !== 'string') expect(means.visiblePaths).toEqual(expect.arrayContaining([file, wheels]))
  if (typeof means !== 'string') expect(means.visiblePaths).not.toContain('/no/such/folder')
  await removeTree(folder)
})

it('pip gets what the owner of the machine set for it, and nothing else of the worker', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stoker-pip-'))
  const [open, closed] = [join(folder, 'open.pem'), join(folder, 'closed.conf')]
  await chmod(folder, 0o755)
  await writeFile(open, '')
  await writeFile(closed, '', { mode: 0o600 })
  const settings = { PIP_INDEX_URL: 'https://i/', PIP_CERT: open, PIP_CONFIG_FILE: closed, HTTPS_PROXY: 'http://p' }
  const means = await buildMeans(ABLE, { ...settings, STOKER_JOIN: 's', AWS_SECRET: 's', HOME: '/nowhere' })
  expect(means).toMatchObject({ env: settings, visiblePaths: expect.arrayContaining([open]) })
  if (typeof means !== 'string') expect(means.visiblePaths).not.toContain(closed)
  await removeTree(folder)
})

import { chmod, mkdtemp, writeFile } from 'node:fs/promises'
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

import { expect, it } from 'vitest'
import { pipSettings } from './pip-settings.ts'

const FILE = `
[global]
# find-links = /not/this
index-url = https://index.example/simple
extra_index_url = file:///srv/cpu%20builds/simple
cache-dir = /not/that
find-links =
    /srv/wheels
    https://wheels.example/
[install]
no-index = yes
cert: /etc/ssl/own.pem
`

it('places on this machine are found in files and variables, as paths and as URLs', () => {
  const { paths } = pipSettings({ PIP_FIND_LINKS: '/a file:///b', PIP_INDEX_URL: 'file:///c', HTTPS_PROXY: '/no' }, [
    FILE,
  ])
  expect(paths).toEqual(['/srv/cpu builds/simple', '/srv/wheels', '/etc/ssl/own.pem', '/a', '/b', '/c'])
})

it.each([
  ['a file says so', {}, FILE, true],
  ['a variable says so', { PIP_NO_INDEX: '1' }, '', true],
  ['nobody says so', {}, 'index-url = https://x', false],
  ['a variable takes back what a file says', { PIP_NO_INDEX: 'false' }, FILE, false],
])('pip needs no network where %s', (_, env, file, isOffline) => {
  expect(pipSettings(env, [file]).isOffline).toBe(isOffline)
})

it('what is no setting is passed over', () => {
  expect(pipSettings({}, ['  /first\nnonsense\n= /x\nfind-links = file:///%zz'])).toEqual({
    paths: [],
    isOffline: false,
  })
})

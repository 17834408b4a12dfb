import { execFile } from 'node:child_process'
import { lstat, readlink } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import type { LaunchOrder } from './port.ts'

const UID = '1000'
const HOSTNAME = 'job'
/** The address slirp4netns answers name queries on. */
const SLIRP_DNS = '10.0.2.3'
const LIBRARY_LINKS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
/** What programs need to find libraries, names, certificates and the time zone; nothing with a secret in it. */
const ETC = [
  'ld.so.cache',
  'alternatives',
  'localtime',
  'nsswitch.conf',
  'ssl/certs',
  'ssl/openssl.cnf',
  'pki/tls/certs',
  'pki/ca-trust/extracted',
]
/** Made, because the host's would tell its users and its name. */
const MADE = [
  [
    'text',
    `root:x:0:0:root:/nonexistent:/usr/sbin/nologin\njob:x:${UID}:${UID}:job:/work:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n`,
    '/etc/passwd',
  ],
  ['text', `root:x:0:\njob:x:${UID}:\nnogroup:x:65534:\n`, '/etc/group'],
  ['text', `127.0.0.1 localhost ${HOSTNAME}\n::1 localhost\n`, '/etc/hosts'],
]

const SECRETS = '/run/secrets'

type Options = readonly (readonly string[])[]

/** What is the same for every sandbox on this machine. */
interface System {
  /** No namespaces inside, where bubblewrap can see to that. */
  readonly closed: Options
  /** The parts it shows: programs, libraries, a little of /etc, the devices everyone has. */
  readonly shown: Options
}

export async function describeSystem(toolPath: string): Promise<System> {
  const links = await Promise.all(LIBRARY_LINKS.map(showLibraries))
  const etc = await Promise.all(ETC.map(name => showIfPresent(`/etc/${name}`)))
  const closed = (await knowsOption('--disable-userns', toolPath)) ? [['--disable-userns']] : []
  const shown = [
    ['--ro-bind', '/usr', '/usr'],
    ...links.flat(),
    ['--perms', '0755', '--dir', '/etc'],
    ...etc.flat(),
    ...MADE,
    ['--dev', '/dev'],
  ]
  return { closed, shown }
}

/** Bubblewrap options for one order; the keeper stages the work folder and listed paths, so their parents may be closed. */
export function sandboxOptions(order: LaunchOrder, { closed, shown }: System): SandboxOptions {
  const before = [
    ['--unshare-all'],
    ['--unshare-user'],
    ...(order.network === 'host' ? [['--share-net']] : []),
    ['--die-with-parent'],
    ['--uid', UID],
    ['--gid', UID],
    ['--hostname', HOSTNAME],
    ['--clearenv'],
    ...Object.entries(order.env).map(([name, value]) => ['--setenv', name, value]),
    ...closed,
  ]
  const isPlain = hasOnlyItsPlaces(order)
  const outside = order.visiblePaths.filter(path => !isInWork(path))
  const standing = isPlain ? outside.filter(path => !isBelow('/tmp', path)) : []
  const system = [...shown, ...standing.map(visible)]
  const after = [
    ...nameServers(order),
    ['--proc', '/proc'],
    ...order.devices.map(path => ['--dev-bind', path, path]),
    ...inMemory('/dev/shm', order),
    ['--remount-ro', '/dev'],
    ...inMemory('/tmp', order),
    ...outside.filter(path => !standing.includes(path)).map(visible),
    ['staged', '--bind', join(order.folder, 'work'), '/work'],
    ...order.visiblePaths.filter(isInWork).map(visible),
    ...secretFiles(order),
    ['--remount-ro', '/'],
    ['--chdir', '/work'],
  ]
  const range = [before.length, before.length + system.length] as const
  return { options: [...before, ...system, ...after], system: isPlain ? range : null }
}

interface SandboxOptions {
  readonly options: Options
  readonly system: readonly [number, number] | null
}

/** Whether all that is mounted for this order alone goes where every sandbox has a place for it. */
function hasOnlyItsPlaces({ network, devices, visiblePaths, secrets }: LaunchOrder): boolean {
  const hasSecrets = secrets !== null && secrets.files.length > 0
  return network === 'none' && devices.length === 0 && !visiblePaths.some(needsAPlace) && !hasSecrets
}

/** Files in memory count as memory nowhere but in a cgroup, so each such folder has a size. */
function inMemory(place: string, { limits }: LaunchOrder): Options {
  const size = limits.memoryBytes ?? Math.floor(totalmem() / 4)
  return [
    ['--perms', '1777'],
    ['--size', String(size), '--tmpfs', place],
  ]
}

/** On a file system of their own in memory, readable by the program only. */
function secretFiles({ secrets }: LaunchOrder): Options {
  if (secrets === null || secrets.files.length === 0) return []
  return [
    ['--perms', '0700'],
    ['--tmpfs', SECRETS],
    ...secrets.files.map(({ name, value }) => ['secret', value, `${SECRETS}/${name}`]),
    ['--remount-ro', SECRETS],
    ['--setenv', 'STOKER_SECRETS', SECRETS],
  ]
}

function nameServers({ network }: LaunchOrder): Options {
  if (network === 'internet') return [['text', `nameserver ${SLIRP_DNS}\n`, '/etc/resolv.conf']]
  return network === 'host' ? [['--ro-bind-try', '/etc/resolv.conf', '/etc/resolv.conf']] : []
}

/** Older bubblewraps do not know every option; with one they do not know they would not start. */
function knowsOption(option: string, toolPath: string): Promise<boolean> {
  return new Promise(resolve => {
    const env = { PATH: toolPath }
    execFile('bwrap', ['--help'], { env }, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`.includes(option)))
  })
}

async function showLibraries(path: string): Promise<Options> {
  const stat = await lstat(path).catch(() => null)
  if (stat === null) return []
  return stat.isSymbolicLink() ? [['--symlink', await readlink(path), path]] : [['--ro-bind', path, path]]
}

async function showIfPresent(path: string): Promise<Options> {
  const stat = await lstat(path).catch(() => null)
  return stat === null ? [] : [['--ro-bind-try', path, path]]
}

/** Where each sandbox has something of its own that takes no more mounts, or nothing. */
function needsAPlace(path: string): boolean {
  return ['/dev', '/proc', '/run'].some(place => isBelow(place, path))
}

/** On a machine with a /work of its own: the program's folder is put there and would hide it. */
function isInWork(path: string): boolean {
  return path.startsWith('/work/')
}

function isBelow(place: string, path: string): boolean {
  return `${path}/`.startsWith(`${place}/`)
}

function visible(path: string): string[] {
  return ['staged', '--ro-bind', path, path]
}

import { access, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Abilities } from '@stoker/protocol'
import type { LaunchOrder } from '../executors/port.ts'
import { pipSettings } from './pip-settings.ts'

type Env = Readonly<Record<string, string | undefined>>

/** How packages are installed on this machine. */
export interface BuildMeans extends Pick<LaunchOrder, 'isolation' | 'network' | 'env' | 'visiblePaths'> {}

/** What the owner of the machine set for pip and for the way out; everything else of the worker's environment stays with it. */
const SETTINGS =
  /^(PIP_(INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|TRUSTED_HOST|CERT|CONFIG_FILE|DEFAULT_TIMEOUT|RETRIES|PROXY|PREFER_BINARY)|(HTTPS?|NO|ALL)_PROXY|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE)$/i
const FILES = /^(SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE)$/
const SYSTEM_SETTINGS = ['/etc/xdg/pip/pip.conf', '/etc/pip.conf']

/**
 * Installing may run code of packages, so it is kept apart as programs are: in a sandbox where there is one, and never with
 * less than a program would have. A sentence says why nothing can be installed.
 */
export async function buildMeans(abilities: Abilities, workerEnv: Env): Promise<BuildMeans | string> {
  const { sandbox, unsandboxed, internet, hostNetwork, note } = abilities
  const env = await settingsOf(workerEnv)
  if (!sandbox)
    return unsandboxed
      ? { isolation: 'none', network: 'host', env, visiblePaths: [] }
      : `nothing can be installed: ${note ?? 'no sandbox, and nothing is run without one'}`
  const files = await shownAmong([...SYSTEM_SETTINGS, env.PIP_CONFIG_FILE ?? ''])
  const { paths, isOffline } = pipSettings(env, await Promise.all(files.map(path => readFile(path, 'utf8'))))
  const network = hostNetwork ? 'host' : internet ? 'internet' : isOffline ? 'none' : null
  if (network === null) return 'no network for pip: sandboxes here have none (install slirp4netns)'
  const named = Object.entries(env).flatMap(([name, value]) => (FILES.test(name) ? [value] : []))
  const visiblePaths = [...new Set([...files, ...(await shownAmong([...named, ...paths]))])]
  return { isolation: 'sandbox', network, env, visiblePaths }
}

async function shownAmong(paths: readonly string[]): Promise<string[]> {
  const shown = await Promise.all(paths.map(async path => ((await isShown(path)) ? [path] : [])))
  return shown.flat()
}

/** A home is never shown, so the settings in it are named. */
async function settingsOf(workerEnv: Env): Promise<Record<string, string>> {
  const entries = Object.entries(workerEnv).flatMap(([name, value]) =>
    value !== undefined && SETTINGS.test(name) ? [[name, value] as const] : [],
  )
  const own = join(workerEnv.HOME ?? '/', '.config', 'pip', 'pip.conf')
  return { ...((await isShown(own)) ? { PIP_CONFIG_FILE: own } : {}), ...Object.fromEntries(entries) }
}

/** A path of this machine that another user may read too: sandboxes of a root worker are one. */
async function isShown(path: string): Promise<boolean> {
  if (!path.startsWith('/')) return false
  const readable = await access(path).then(
    () => true,
    () => false,
  )
  return readable && ((await stat(path)).mode & 0o004) !== 0
}

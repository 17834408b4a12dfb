import { homedir } from 'node:os'
import { join } from 'node:path'
import { proxyFor } from '@stoker/net'

/** All that the environment decides. `$STOKER_HOME` moves everything into one folder. */
export interface Config {
  readonly dataFolder: string
  readonly contextsFile: string
  /** Where presets are, if not beside the data of the hub. */
  readonly presets: string | undefined
  readonly url: string | undefined
  readonly token: string | undefined
  /** SHA-256 of the key of the hub at `url`. */
  readonly pin: string | undefined
  /** The proxy that the environment names for an address. */
  readonly proxyFor: (url: string, given: string | undefined) => URL | null
  /** How people type this program where they are: through npx in the repository. */
  readonly command: 'stoker' | 'npx stoker'
  /** A join token for a worker that is being installed. */
  readonly join: string | undefined
  /** What a service inherits of this environment: the programs it finds, and its way out. */
  readonly path: string
  readonly proxyVariables: Readonly<Record<string, string>>
  readonly node: string
  readonly userUnits: string
  readonly isRoot: boolean
  readonly color: 'auto' | 'always' | 'never'
  /** What a program on this machine inherits, as from a worker. */
  readonly inherited: Readonly<Record<string, string>>
  /** Where the container engine listens, if someone said so. */
  readonly dockerHost: string | undefined
  /** A terminal that cannot go back in a line gets no line that is drawn again. */
  readonly isDumb: boolean
}

export function readConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const home = given(env.STOKER_HOME)
  const data = home ?? join(given(env.XDG_DATA_HOME) ?? join(homedir(), '.local', 'share'), 'stoker')
  const config = home ?? join(given(env.XDG_CONFIG_HOME) ?? join(homedir(), '.config'), 'stoker')
  return {
    dataFolder: data,
    contextsFile: join(config, 'contexts.json'),
    presets: given(env.STOKER_PRESETS),
    url: given(env.STOKER_URL),
    token: given(env.STOKER_TOKEN),
    pin: given(env.STOKER_PIN),
    proxyFor: (url, proxy) => proxyFor(url, env, proxy),
    command: given(env.npm_lifecycle_event) === undefined ? 'stoker' : 'npx stoker',
    join: given(env.STOKER_JOIN),
    path: given(env.PATH) ?? '/usr/local/bin:/usr/bin:/bin',
    proxyVariables: proxyVariables(env),
    node: process.execPath,
    userUnits: join(given(env.XDG_CONFIG_HOME) ?? join(homedir(), '.config'), 'systemd', 'user'),
    isRoot: process.getuid?.() === 0,
    color: colorOf(env),
    inherited: inheritedBy(env),
    dockerHost: given(env.DOCKER_HOST),
    isDumb: env.TERM === 'dumb',
  }
}

function inheritedBy(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = ['LANG', 'LC_ALL', 'TZ', 'PATH', 'HOME']
  const known = Object.fromEntries(names.flatMap(name => (env[name] ? [[name, env[name]]] : [])))
  return { LANG: 'C.UTF-8', PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/', ...known }
}

function proxyVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const names = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'].flatMap(name => [name, name.toUpperCase()])
  return Object.fromEntries(names.flatMap(name => (env[name] ? [[name, env[name]]] : [])))
}

function colorOf(env: Readonly<Record<string, string | undefined>>): Config['color'] {
  if (given(env.NO_COLOR) !== undefined || env.TERM === 'dumb') return 'never'
  return given(env.FORCE_COLOR) === undefined || env.FORCE_COLOR === '0' ? 'auto' : 'always'
}

/** An empty variable counts as none. */
function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}

/** The environment of a child: ours, and what only it should know; unlike arguments, other users cannot list it. */
export function environmentWith(extra: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return { ...process.env, ...extra }
}

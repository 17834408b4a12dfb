/** Of pip's settings what names places: indexes, folders with wheels, certificates. */
const PLACES: ReadonlySet<string> = new Set(['index-url', 'extra-index-url', 'find-links', 'cert', 'client-cert'])
const NO: ReadonlySet<string> = new Set(['0', 'false', 'no', 'off', ''])

export interface PipSettings {
  /** Files and folders of this machine that pip has to read. */
  readonly paths: readonly string[]
  /** It asks no index, so it needs no network. */
  readonly isOffline: boolean
}

/** What the variables and files with pip's settings say of this machine; variables win, as they do for pip. */
export function pipSettings(env: Readonly<Record<string, string>>, files: readonly string[]): PipSettings {
  const said = [...files.flatMap(entriesOf), ...Object.entries(env).flatMap(variable)]
  const values = said.filter(([key]) => PLACES.has(key)).flatMap(([, value]) => value.split(/\s+/))
  const [, offline = ''] = said.findLast(([key]) => key === 'no-index') ?? []
  return { paths: values.flatMap(localPath), isOffline: !NO.has(offline.toLowerCase()) }
}

function variable([name, value]: readonly [string, string]): (readonly [string, string])[] {
  return name.startsWith('PIP_') ? [[name.slice('PIP_'.length).toLowerCase().replaceAll('_', '-'), value]] : []
}

/** `key = value`, or `key: value`; lines that are indented go on with the value before. */
function entriesOf(text: string): (readonly [string, string])[] {
  const entries: [string, string][] = []
  for (const line of text.split('\n').filter(line => !/^\s*([#;]|$)/.test(line))) {
    const [, key, value = ''] = /^([\w-]+)\s*[=:](.*)$/.exec(line) ?? []
    const last = entries.at(-1)
    if (key !== undefined) entries.push([key.toLowerCase().replaceAll('_', '-'), value.trim()])
    else if (/^\s/.test(line) && last !== undefined) last[1] += ` ${line.trim()}`
  }
  return entries
}

/** Also as a file URL, percent signs and all; what lies on other machines is no path. */
function localPath(value: string): string[] {
  if (value.startsWith('/')) return [value]
  if (!value.startsWith('file:///')) return []
  try {
    return [decodeURIComponent(new URL(value).pathname)]
  } catch {
    return []
  }
}

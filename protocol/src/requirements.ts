/** A package by name, with extras, versions and a marker: nothing that runs code of its own or leads elsewhere. */
const PLAIN =
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?\s*(?:\[[A-Za-z0-9._,\s-]*\])?\s*(?:[(<>=!~](?:(?! -)[^@/\\$])*)?(?:;[^@/\\$]*)?$/
/** Pins what is fetched, and does nothing else. */
const HASH = / --hash=\w+:[0-9a-f]+(?= |$)/g

/** Requirements without what pip does not read: equal texts here need the same packages, however they were written. */
export function normalRequirements(text: string): string {
  const lines = text
    .replace(/\\\r?\n/g, ' ')
    .split(/\r\n|\r|\n/)
    .map(line =>
      line
        .replace(/(^|\s)#.*$/, '')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter(line => line !== '')
  const options = lines.filter(line => line.startsWith('-'))
  const packages = lines.filter(line => !line.startsWith('-')).map(normalPackage)
  return [...options, ...[...new Set(packages)].sort()].join('\n')
}

/** Only packages by name: no options, addresses, paths or variables. */
export function namesOnlyPackages(requirements: string): boolean {
  return requirements.split('\n').every(line => line === '' || PLAIN.test(line.replace(HASH, '')))
}

function normalPackage(line: string): string {
  const name = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?/.exec(line)?.[0] ?? ''
  const rest = line.slice(name.length)
  if (!PLAIN.test(line)) return line
  const [versions = '', ...marker] = rest.split(';')
  const tail = marker.length === 0 ? '' : `;${marker.join(';').trim()}`
  return `${name.toLowerCase().replace(/[-_.]+/g, '-')}${versions.replace(/\s+/g, '')}${tail}`
}

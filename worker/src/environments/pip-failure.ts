const KEPT_LINES = 6
const MAX_LINE_CHARS = 300

/** In the order in which pip's words tell most. */
const CULPRITS = [
  /Failed (?:to build|building wheel for) ([A-Za-z0-9][A-Za-z0-9._-]*)/,
  /No matching distribution found for ([^\s(]+)/,
  /Could not find a version that satisfies the requirement ([^\s(]+)/,
  /Invalid requirement: (.+?)(?: \(from|$)/,
  /Cannot install (.+?) because/,
  /(?:ERROR|error): Could not install packages due to an OSError: (.+)/,
]

/** Why an installation failed: the package that did it where pip names one, and pip's last words. */
export function pipFailure(output: string): string {
  const lines = output.split('\n').filter(line => line.trim() !== '')
  const culprit = CULPRITS.map(pattern => lastMatch(lines, pattern)).find(found => found !== null)
  const last = lines.slice(-KEPT_LINES).map(line => line.trimEnd().slice(0, MAX_LINE_CHARS))
  const head = culprit === undefined ? 'its packages could not be installed' : `${culprit} could not be installed`
  return [head, ...last].join('\n')
}

function lastMatch(lines: readonly string[], pattern: RegExp): string | null {
  for (const line of lines.toReversed()) {
    const found = pattern.exec(line)?.[1]
    if (found !== undefined) return found.trim().slice(0, MAX_LINE_CHARS)
  }
  return null
}

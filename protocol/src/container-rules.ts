/** A name as people write it: without the default host and library, with the tag or digest it stands for. */
export function familiarImage(image: string): string {
  const short = image.replace(/^(index\.)?docker\.io\//, '').replace(/^library\//, '')
  const digest = short.indexOf('@')
  if (digest >= 0) return `${withoutTag(short.slice(0, digest))}${short.slice(digest)}`
  return withoutTag(short) === short ? `${short}:latest` : short
}

/** A colon behind the last slash begins a tag; one before it is a port. */
function withoutTag(name: string): string {
  const tag = name.indexOf(':', name.lastIndexOf('/') + 1)
  return tag < 0 ? name : name.slice(0, tag)
}

/** Whether an owner's patterns let an image in; `*` stands for anything, no patterns for every image. */
export function allowsImage(patterns: readonly string[], image: string): boolean {
  if (patterns.length === 0) return true
  const name = familiarImage(image)
  return patterns.some(pattern => matches(pattern, name))
}

/** Without backtracking: parts between stars are looked for one after the other. */
function matches(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return familiarImage(pattern) === name
  const [head = '', ...rest] = familiarPattern(pattern).split('*')
  const tail = rest.pop() ?? ''
  if (!name.startsWith(head) || !name.endsWith(tail) || name.length < head.length + tail.length) return false
  const end = name.length - tail.length
  let at = head.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

function familiarPattern(pattern: string): string {
  return pattern.replace(/^(index\.)?docker\.io\//, '').replace(/^library\//, '')
}

/** Whether a folder is one of these or inside one; only the words are looked at, not what links lead to. */
export function liesBelow(path: string, folders: readonly string[]): boolean {
  const place = plain(path)
  return folders.some(folder => {
    const root = plain(folder)
    return place === root || place.startsWith(root === '/' ? '/' : `${root}/`)
  })
}

/** A path that climbs is below nothing. */
function plain(path: string): string {
  const parts = path.split('/').filter(part => part !== '' && part !== '.')
  return parts.includes('..') ? '' : `/${parts.join('/')}`
}

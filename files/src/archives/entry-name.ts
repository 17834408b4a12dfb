import { ArchiveRefused } from './archive-refused.ts'

const MAX_PART_BYTES = 255

/** The name of an entry as a path below the target, without `./` and trailing `/`; null is the target itself. Everything that could lead elsewhere is refused. */
export function entryName(raw: string, maxBytes: number): string | null {
  const shown = JSON.stringify(raw.length > 200 ? `${raw.slice(0, 200)}…` : raw)
  const refuse = (why: string) => new ArchiveRefused(`entry ${shown} is refused: ${why}`)
  if (Buffer.byteLength(raw) > maxBytes)
    throw refuse(`its name has ${Buffer.byteLength(raw)} bytes, at most ${maxBytes} are allowed`)
  if (/[\0\\]/.test(raw)) throw refuse('its name has a backslash or a NUL character')
  if (raw.startsWith('/')) throw refuse('its path is absolute')
  const parts = raw.split('/').filter((part, i, all) => part !== '.' && !(part === '' && i === all.length - 1))
  if (parts.includes('..')) throw refuse('its path leads outside by ".."')
  if (parts.includes('')) throw refuse('its path has an empty part')
  const long = parts.find(part => Buffer.byteLength(part) > MAX_PART_BYTES)
  if (long !== undefined)
    throw refuse(`a part of its path has ${Buffer.byteLength(long)} bytes, at most ${MAX_PART_BYTES} are allowed`)
  return parts.length === 0 ? null : parts.join('/')
}

/**
 * True if a link at `name` can only ever lead to something below the target. `..` may stand only in front: there it climbs
 * real folders. Behind a name it could climb out of wherever another link has led to.
 */
export function staysInside(name: string, target: string): boolean {
  if (target === '' || target.startsWith('/') || /[\0\\]/.test(target)) return false
  const parts = target.split('/').filter(part => part !== '' && part !== '.')
  const firstName = parts.findIndex(part => part !== '..')
  const climbs = firstName === -1 ? parts.length : firstName
  if (parts.slice(climbs).includes('..')) return false
  return climbs <= name.split('/').length - 1
}

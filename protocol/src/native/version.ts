/** The version of the native protocol. One minor of skew works; another major is refused. */
export const PROTOCOL = { major: 1, minor: 3 } as const

export interface ProtocolVersion {
  readonly major: number
  readonly minor: number
}

/** Null when both ends can talk, otherwise the sentence that says why not. */
export function incompatibility(ours: ProtocolVersion, theirs: ProtocolVersion): string | null {
  if (ours.major === theirs.major && Math.abs(ours.minor - theirs.minor) <= 1) return null
  const older =
    ours.major > theirs.major || (ours.major === theirs.major && ours.minor > theirs.minor)
      ? 'the other side'
      : 'this side'
  return `protocol ${theirs.major}.${theirs.minor} meets ${ours.major}.${ours.minor}; one minor of difference works, this is more: upgrade ${older}`
}

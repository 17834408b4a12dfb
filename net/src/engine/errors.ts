/** No engine answers: not running, or not for this user. The sentence says which, and what to do. */
export class EngineAway extends Error {
  constructor(address: string, cause: unknown) {
    super(sentence(address, cause), { cause })
    this.name = 'EngineAway'
  }
}

/** The engine answered that it does not do this. */
export class EngineRefused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'EngineRefused'
    this.status = status
  }
}

function sentence(address: string, cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  if (code === 'EACCES' || code === 'EPERM')
    return `this user may not speak to the container engine at ${address}; join the group of that socket (usually docker)`
  const why = { ENOENT: 'there is no socket', ECONNREFUSED: 'nothing listens there' }[code] ?? String(cause)
  return `no container engine answers at ${address} (${why}); start it, or say where it is with DOCKER_HOST`
}

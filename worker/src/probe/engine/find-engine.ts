import { existsSync } from 'node:fs'
import { hasCode } from '@stoker/files'
import { EngineAway, EngineClient } from '@stoker/net'
import { z } from 'zod'
import { hasGpuRuntime } from './gpu-runtime.ts'

const PATIENT = { patienceMs: 3_000 }

export interface FoundEngine {
  readonly kind: 'found'
  readonly socket: string
  readonly engine: 'docker' | 'podman'
  readonly version: string
  /** It can hand NVIDIA devices to containers; never said of podman, which ignores the wish. */
  readonly gpuRuntime: boolean
}

/** What runs containers on this machine, or why nothing does. */
export type EngineAnswer =
  | FoundEngine
  | { readonly kind: 'absent' }
  | { readonly kind: 'denied'; readonly socket: string }
  | { readonly kind: 'silent'; readonly socket: string; readonly why: string }

export interface EngineWish {
  /** A socket, `none`, or null: the usual places. */
  readonly engine: string | null
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The first engine that answers; of those that do not, the first tells why. */
export async function findEngine(wish: EngineWish): Promise<EngineAnswer> {
  let problem: EngineAnswer = { kind: 'absent' }
  for (const socket of socketsOf(wish)) {
    const answer = await askEngine(socket, wish.env)
    if (answer.kind === 'found') return answer
    if (problem.kind === 'absent') problem = answer
  }
  if (problem.kind === 'absent' && isNamed(wish.engine))
    return { kind: 'silent', socket: wish.engine, why: 'it does not exist' }
  return problem
}

/** The sentence for a worker that could have an engine and has none. */
export function engineProblem(answer: EngineAnswer): string | null {
  if (answer.kind === 'denied')
    return `no containers: this user may not use ${answer.socket}; add it to the group that owns it`
  if (answer.kind === 'silent')
    return `no containers: ${answer.socket}: ${answer.why}; start the engine, or name another with --engine`
  return null
}

function isNamed(engine: string | null): engine is string {
  return engine !== null && engine !== 'none'
}

/** A DOCKER_HOST that is no socket of this machine is another machine's engine: nothing could be mounted there. */
function socketsOf({ engine, env }: EngineWish): readonly string[] {
  if (engine === 'none') return []
  if (engine !== null) return [engine]
  const given = /^unix:\/\/(\/.+)$/.exec(env.DOCKER_HOST ?? '')?.[1]
  if (given !== undefined) return [given]
  const own = env.XDG_RUNTIME_DIR
  return [
    '/var/run/docker.sock',
    ...(own === undefined ? [] : [`${own}/docker.sock`]),
    '/run/podman/podman.sock',
    ...(own === undefined ? [] : [`${own}/podman/podman.sock`]),
  ]
}

const Version = z.object({ Version: z.string(), Components: z.array(z.object({ Name: z.string() })).nullish() })

async function askEngine(socket: string, env: EngineWish['env']): Promise<EngineAnswer> {
  if (!existsSync(socket)) return { kind: 'absent' }
  const client = new EngineClient({ kind: 'socket', path: socket })
  try {
    const { Version: version, Components } = Version.parse(await client.call('GET', '/version', PATIENT))
    const isPodman = (Components ?? []).some(({ Name }) => /podman/i.test(Name))
    const gpuRuntime = !isPodman && (await hasGpuRuntime(await client.call('GET', '/info', PATIENT), env.PATH))
    return { kind: 'found', socket, engine: isPodman ? 'podman' : 'docker', version, gpuRuntime }
  } catch (failure) {
    const error = failure instanceof EngineAway ? failure.cause : failure
    if (hasCode(error, 'EACCES', 'EPERM')) return { kind: 'denied', socket }
    const why = hasCode(error, 'ECONNREFUSED') ? 'nobody listens on it' : `it gives no usable answer: ${String(error)}`
    return { kind: 'silent', socket, why: why.split('\n', 1).join('') }
  }
}

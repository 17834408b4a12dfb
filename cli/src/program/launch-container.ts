import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { type EngineClient, EngineRefused, FrameSplitter } from '@stoker/net'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { containerBody } from './container-body.ts'
import type { Launcher, LaunchWish, Running } from './launch.ts'
import { titleOf } from './mistake.ts'
import type { RunEnd } from './observation.ts'

export interface ContainerWish {
  readonly image: string
  /** Empty: the image's own command. */
  readonly words: readonly string[]
  /** A folder of this machine that becomes /models. */
  readonly models: string | null
}

/** Each run is a container of its own that is removed when it has ended. */
export function containerLauncher(engine: EngineClient, wish: ContainerWish): Launcher {
  return {
    title: titleOf(['image', wish.image, ...wish.words]),
    modelPath: '/models',
    async start(run) {
      const name = `stoker-check-${randomUUID().slice(-12)}`
      await create(engine, name, wish, run)
      try {
        const stream = await engine.attach(name)
        const exited = engine.call('POST', `/containers/${name}/wait?condition=next-exit`)
        exited.catch(() => {})
        await begin(engine, name, wish, stream)
        return running(engine, name, stream, exited, run)
      } catch (error) {
        await engine.call('DELETE', `/containers/${name}?force=1`)
        throw error
      }
    },
  }
}

async function create(engine: EngineClient, name: string, wish: ContainerWish, run: LaunchWish): Promise<void> {
  const body = containerBody({ ...wish, env: run.env, terminal: run.terminal })
  await engine.call('POST', `/containers/create?name=${name}`, { body }).catch((error: unknown) => {
    throw refused(error, wish)
  })
}

async function begin(engine: EngineClient, name: string, wish: ContainerWish, stream: Duplex): Promise<void> {
  await engine.call('POST', `/containers/${name}/start`).catch((error: unknown) => {
    stream.destroy()
    throw refused(error, wish)
  })
}

/** The streams end and the wait is answered in either order; removed is only what is over. */
function running(
  engine: EngineClient,
  name: string,
  stream: Duplex,
  exited: Promise<unknown>,
  run: LaunchWish,
): Running {
  const frames = new FrameSplitter()
  stream.on('data', (bytes: Buffer) => {
    if (run.terminal) run.onBytes('stdout', bytes)
    else for (const frame of frames.push(bytes)) run.onBytes(frame.stream, frame.bytes)
  })
  const drained = new Promise<void>(resolve => {
    stream.on('error', () => {}).on('close', resolve)
    stream.on('end', () => stream.end())
  })
  const signal = (how: 'end' | 'kill') => {
    const sent = engine.call('POST', `/containers/${name}/kill?signal=${how === 'end' ? 'SIGTERM' : 'SIGKILL'}`)
    sent.catch(() => {})
  }
  return {
    ended: endOf(engine, name, Promise.all([exited, drained])),
    write: line => void stream.write(line),
    // The end of a terminal's input would be the end of its output.
    endInput: () => void (run.terminal ? null : stream.end()),
    signal,
  }
}

async function endOf(engine: EngineClient, name: string, over: Promise<unknown>): Promise<RunEnd> {
  try {
    await over
    const { State } = (await engine.call('GET', `/containers/${name}/json`)) as {
      readonly State: { readonly ExitCode: number; readonly OOMKilled: boolean }
    }
    return { exitCode: State.ExitCode, signal: null, isOutOfMemory: State.OOMKilled }
  } finally {
    await engine.call('DELETE', `/containers/${name}?force=1`)
  }
}

function refused(error: unknown, { image }: ContainerWish): unknown {
  if (!(error instanceof EngineRefused)) return error
  if (error.status === 404 && /no such image/i.test(error.message))
    return new Failure(`the engine has no image ${image}; build it (build.sh) or load it (docker load)`, {
      exitCode: EXIT.notFound,
      code: 'image.not_found',
      cause: error,
    })
  return new Failure(`the engine does not run ${image}: ${error.message}`, { code: 'engine.refused', cause: error })
}

import { delimiter, dirname } from 'node:path'
import { factsEnv, type Offer } from '@stoker/protocol'
import { rankCount } from './ranks.ts'
import { threadEnv } from './threads.ts'

/** The whole list of what a program may inherit from its worker; everything else it gets is said in its spec or here. */
const INHERITED = ['LANG', 'LC_ALL', 'TZ'] as const

/** What an earlier attempt left is put here. */
export const RESUME_FOLDER = 'resume'

export interface Surroundings {
  readonly isolation: 'none' | 'sandbox' | 'container'
  /** Of the worker: PATH always but in containers, HOME only for programs that run as the worker's own user. */
  readonly workerEnv: Readonly<Record<string, string | undefined>>
  readonly python: string | null
  /** The virtual environment that Python is of, if it is of one. */
  readonly virtualEnv?: string | null | undefined
  readonly modelsFolder: string
  /** The program's own folder, as it sees it. */
  readonly workFolder?: string | undefined
  /** Secrets the spec asked for as variables. */
  readonly secretEnv?: Readonly<Record<string, string>> | undefined
  /** Of a session: the task that it is started for, if there is one already; the others come on its stdin. */
  readonly opener?: Offer | undefined
  readonly gpus: readonly { readonly uuid: string; readonly index: number; readonly simulated: boolean }[]
}

/** The exact environment of a program. Later lines win: inherited, metadata, the spec's own, then what the worker knows for certain. */
export function programEnv(offer: Offer, surroundings: Surroundings): Record<string, string> {
  const { gpus, opener = offer } = surroundings
  const real = gpus.filter(gpu => !gpu.simulated).map(gpu => gpu.uuid)
  const said = { ...offer.spec.env, ...surroundings.secretEnv }
  return Object.assign(
    surroundings.isolation === 'container' ? {} : hostEnv(surroundings),
    threadEnv(offer.spec.resources.cpus, rankCount(offer.spec, offer.gpus.length), said),
    factsEnv({
      input: opener.spec.input,
      env: said,
      taskId: opener.id,
      sessionId: offer.spec.session === null ? null : offer.id,
      modelName: offer.spec.model?.name ?? '',
      modelPath: surroundings.modelsFolder,
      gpuDevice: gpus[0] === undefined ? '' : String(gpus[0].index),
    }),
    {
      STOKER_JOB_ID: offer.id,
      ...checkpointEnv(offer, surroundings.workFolder ?? '/work'),
      CUDA_VISIBLE_DEVICES: real.join(','),
      NVIDIA_VISIBLE_DEVICES: visibleOf(surroundings, real),
    },
  )
}

/** Where it leaves what it could go on from, and what an earlier attempt left: the file or folder that one named. */
function checkpointEnv({ resume }: Offer, work: string): Record<string, string> {
  const left = resume?.kind === 'file' ? `${RESUME_FOLDER}/${resume.files[0]?.path ?? ''}` : RESUME_FOLDER
  const from = resume === undefined ? {} : { RESUME_FROM: `${work}/${left}` }
  return { CHECKPOINT_DIR: `${work}/checkpoints`, ...from }
}

/** An image brings a PATH, a HOME and a locale of its own; everywhere else the machine's are used. */
function hostEnv(surroundings: Surroundings): Record<string, string> {
  const { isolation, workerEnv } = surroundings
  const inherited = INHERITED.flatMap(name => (workerEnv[name] === undefined ? [] : [[name, workerEnv[name]]]))
  return {
    LANG: 'C.UTF-8',
    ...Object.fromEntries(inherited),
    PATH: pathOf(surroundings),
    ...(surroundings.virtualEnv ? { VIRTUAL_ENV: surroundings.virtualEnv } : {}),
    HOME: isolation === 'sandbox' ? '/work' : (workerEnv.HOME ?? '/'),
  }
}

/** A GPU runtime gives a container what this says, whatever its image wishes; names it does not know would stop it. */
function visibleOf({ isolation, gpus }: Surroundings, real: readonly string[]): string {
  const named = isolation === 'container' ? real : gpus.map(gpu => gpu.uuid)
  return named.length === 0 ? 'void' : named.join(',')
}

function pathOf({ workerEnv, python }: Surroundings): string {
  const own = python === null ? [] : [dirname(python)]
  const inherited = (workerEnv.PATH ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter)
  return [...new Set([...own, ...inherited])].filter(part => part.startsWith('/')).join(delimiter)
}

import { join } from 'node:path'
import { type Abilities, fenceKey, type Gpu, type Offer } from '@stoker/protocol'
import type { Transfers } from '../artifacts/transfers.ts'
import type { Execution, Executor } from '../executors/port.ts'
import { launch } from './attempt-run.ts'
import type { Delivery } from './delivery.ts'
import { programEnv } from './environment.ts'
import { placeInputs } from './inputs.ts'
import { chooseIsolation, type Isolation } from './isolation.ts'
import { programArgv } from './program.ts'
import { attemptSecrets } from './secrets.ts'
import type { Workspaces } from './workspace.ts'

/** Set-up that makes no progress for this long has failed. */
const SETUP_STALL_MS = 300_000

export interface SetUpPorts {
  /** Null on a machine without Python: inline types only. */
  readonly executor: Executor | null
  readonly workspaces: Workspaces
  readonly delivery: Delivery
  readonly transfers: Transfers
  readonly abilities: Abilities
  readonly gpus: readonly Gpu[]
  readonly python: { readonly path: string; readonly prefix: string } | null
  readonly visiblePaths: readonly string[]
  readonly modelsFolder: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => number
}

/** The worker cannot run the offer at all: another worker may. */
export class Declined extends Error {}

/** Workspace, inputs, program: the steps until it runs. `opener` is asked last: the task a session is started for, if any. `isAgain` goes on with a workspace whose inputs an earlier process did not finish. */
export async function setUpProgram(
  offer: Offer,
  ports: SetUpPorts,
  {
    signal,
    isAgain,
    opener,
  }: { readonly signal: AbortSignal; readonly isAgain: boolean; readonly opener: () => Offer | undefined },
): Promise<Execution> {
  const { executor, workspaces, abilities, python } = ports
  if (executor === null) throw new Declined('this worker has no Python and runs inline types only')
  const choice = chooseIsolation(offer.spec, abilities)
  if (typeof choice === 'string') throw new Declined(choice)
  const secrets = await attemptSecrets(offer, choice.isolation)
  return unlessStalled(async alive => {
    const folder = isAgain ? await workspaces.makeAgain(offer) : workspaces.make(offer)
    if (offer.spec.files.length > 0) await fetchInputs(offer, folder, ports, signal, alive)
    const argv = await programArgv(offer.spec, join(folder, 'work'), python?.path ?? null)
    if (offer.spec.files.length > 0) workspaces.fetched(offer.fence)
    return start(executor, offer, folder, argv, choice, secrets, ports, opener())
  })
}

async function fetchInputs(
  offer: Offer,
  folder: string,
  { workspaces, delivery, transfers, now }: SetUpPorts,
  signal: AbortSignal,
  alive: () => void,
): Promise<void> {
  const { fence } = offer
  workspaces.fetching(fence)
  delivery.report([{ kind: 'starting', fence, at: now(), operation: 'fetching inputs' }])
  await placeInputs(offer, folder, transfers, {
    signal,
    onBytes: (here, all) => {
      alive()
      const percent = all === 0 ? 100 : Math.floor((100 * here) / all)
      delivery.progress(fence, { percent, operation: 'fetching inputs', metrics: {} })
    },
  })
  delivery.progress(fence, { percent: null, operation: null, metrics: {} })
}

function start(
  executor: Executor,
  offer: Offer,
  folder: string,
  argv: readonly string[],
  choice: Isolation,
  secrets: Awaited<ReturnType<typeof attemptSecrets>>,
  { python, gpus, visiblePaths, modelsFolder, env }: SetUpPorts,
  opener: Offer | undefined,
): Promise<Execution> {
  const mine = gpus.filter(gpu => offer.gpus.includes(gpu.uuid))
  const prefix = python === null || python.prefix.startsWith('/usr') ? [] : [python.prefix]
  return launch(executor, offer, folder, fenceKey(offer.fence), {
    argv,
    env: programEnv(offer, {
      isolation: choice.isolation,
      workerEnv: env,
      python: python?.path ?? null,
      modelsFolder,
      gpus: mine,
      secretEnv: secrets.env,
      opener,
    }),
    secrets: secrets.launch,
    takesLines: offer.spec.session !== null,
    ...choice,
    devices: mine
      .filter(gpu => !gpu.simulated)
      .flatMap(gpu => [`/dev/nvidia${gpu.index}`, '/dev/nvidiactl', '/dev/nvidia-uvm']),
    visiblePaths: [...visiblePaths, ...prefix, modelsFolder],
  })
}

/** Rejects when the work has not said for too long that it is alive. */
function unlessStalled<T>(work: (alive: () => void) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the set-up made no progress for ${SETUP_STALL_MS / 1000} s`)),
      SETUP_STALL_MS,
    )
    work(() => timer.refresh())
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}

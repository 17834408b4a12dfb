import { join } from 'node:path'
import { type Abilities, fenceKey, type Gpu, type Offer } from '@stoker/protocol'
import type { ContainerOrder, Execution, Executor } from '../executors/port.ts'
import type { Program } from '../programs/find-programs.ts'
import { launch } from './attempt-run.ts'
import { type BringPorts, type BringWatch, bringContainerImage, bringInputs, bringModel } from './bring.ts'
import {
  bringInterpreter,
  type Interpreter,
  type ProgramSupply,
  programOf,
  requirementsOf,
} from './bring-environment.ts'
import { realMounts } from './container-mounts.ts'
import { containerOrder, MODELS_TARGET } from './container-order.ts'
import { Declined } from './declined.ts'
import { programEnv, RESUME_FOLDER } from './environment.ts'
import { chooseIsolation, type Isolation } from './isolation.ts'
import { PROGRAMS_TARGET, programArgv } from './program.ts'
import { inRanks, rankMounts, rankPaths } from './ranks.ts'
import { attemptSecrets } from './secrets.ts'
import { SetUpLog } from './set-up-log.ts'
import { unlessSilent } from './unless-silent.ts'
import type { Workspaces } from './workspace.ts'

/** Set-up that makes no progress for this long has failed. */
const SETUP_STALL_MS = 300_000

export interface SetUpPorts extends BringPorts {
  /** Null on a machine without Python: inline types only. */
  readonly executor: Executor | null
  readonly workspaces: Workspaces
  readonly abilities: Abilities
  readonly gpus: readonly Gpu[]
  readonly python: { readonly path: string; readonly prefix: string } | null
  /** Absent where programs of types and packages are not to be had. */
  readonly supply?: ProgramSupply | undefined
  readonly visiblePaths: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Workspace, image, model, inputs, program: the steps until it runs. `opener` is asked last: the task a session is started for, if any. `isAgain` goes on with a workspace whose inputs an earlier process did not finish. */
export async function setUpProgram(
  offer: Offer,
  ports: SetUpPorts,
  {
    signal,
    isAgain,
    opener,
  }: { readonly signal: AbortSignal; readonly isAgain: boolean; readonly opener: () => Offer | undefined },
): Promise<Execution> {
  const { executor, workspaces, abilities, python, supply } = ports
  if (executor === null) throw new Declined('this worker has no Python and runs inline types only')
  const choice = chooseIsolation(offer.spec, abilities)
  if (typeof choice === 'string') throw new Declined(choice)
  const secrets = await attemptSecrets(offer, choice.isolation)
  const { files, model, container } = offer.spec
  const program = programOf(offer.spec, supply)
  const needsPackages = requirementsOf(offer.spec, program) !== ''
  const { resume } = offer
  const mayTakeLong = files.length > 0 || resume !== undefined || model !== null || container !== null || needsPackages
  return unlessSilent({ what: 'the set-up', ms: SETUP_STALL_MS }, async (_, alive) => {
    const folder = isAgain ? await workspaces.makeAgain(offer) : workspaces.make(offer)
    if (mayTakeLong) workspaces.fetching(offer.fence)
    const watch = { signal, alive }
    const engine = await engineFor(offer, ports, watch)
    const modelFolder = await bringModel(offer, ports, watch)
    if (files.length > 0 || resume !== undefined) await bringInputs(withResume(offer), folder, ports, watch)
    const log = new SetUpLog(offer, folder, ports.delivery)
    const interpreter = await bringInterpreter(offer, folder, program, python, { ...ports, supply, log }, watch)
    const place = { workFolder: join(folder, 'work'), python: interpreter?.path ?? null }
    const words = await programArgv(offer.spec, { programFolder: program?.folder ?? null, ...place })
    const argv = inRanks(words, offer.spec, offer.gpus.length, python?.path ?? null)
    const order = await containerFor(offer, engine, modelFolder, program, ports)
    if (mayTakeLong) workspaces.fetched(offer.fence)
    const prepared = { choice, order, modelFolder, secrets, program, interpreter, said: log.close(), opener: opener() }
    return start(executor, offer, folder, argv, prepared, ports)
  })
}

/** The socket of the engine, once it has the image; null for what is no container. */
async function engineFor(offer: Offer, ports: SetUpPorts, watch: BringWatch): Promise<string | null> {
  if (offer.spec.container === null) return null
  const socket = ports.containers.socket()
  const { containers } = ports.abilities
  if (socket === null || containers === undefined) throw new Declined('the container engine of this worker is away')
  await bringContainerImage(offer, socket, containers.pulls, ports, watch)
  return socket
}

async function containerFor(
  offer: Offer,
  engine: string | null,
  modelFolder: string,
  program: Program | null,
  { abilities, containers: { workerId }, gpus, supply }: SetUpPorts,
): Promise<ContainerOrder | null> {
  const { container } = offer.spec
  if (container === null || engine === null) return null
  const asked = await realMounts(container, { allowedMounts: abilities.containers?.allowedMounts ?? [] })
  const programs = program === null || supply === undefined ? [] : [programsMount(supply)]
  const mounts = [...asked, ...programs, ...rankMounts(offer.spec)]
  return containerOrder(offer, container, { engine, workerId, modelFolder, gpus: ownGpus(offer, gpus), mounts })
}

function programsMount({ folder }: ProgramSupply) {
  return { source: folder, target: PROGRAMS_TARGET, readOnly: true }
}

/** What an earlier attempt left is brought like the job's own files. */
function withResume(offer: Offer): Offer {
  const left = (offer.resume?.files ?? []).map(file => ({
    ...file,
    path: `${RESUME_FOLDER}/${file.path}`,
    unpack: null,
    executable: false,
  }))
  return { ...offer, spec: { ...offer.spec, files: [...offer.spec.files, ...left] } }
}

interface Prepared {
  readonly choice: Isolation
  readonly order: ContainerOrder | null
  readonly modelFolder: string
  readonly secrets: Awaited<ReturnType<typeof attemptSecrets>>
  readonly program: Program | null
  readonly interpreter: Interpreter | null
  /** Bytes in its log. */
  readonly said: number
  readonly opener: Offer | undefined
}

function start(
  executor: Executor,
  offer: Offer,
  folder: string,
  argv: readonly string[],
  { choice, order, modelFolder, secrets, program, interpreter, said, opener }: Prepared,
  { python, gpus, visiblePaths, env, supply }: SetUpPorts,
): Promise<Execution> {
  const mine = ownGpus(offer, gpus)
  const prefix = python === null || python.prefix.startsWith('/usr') ? [] : [python.prefix]
  const programs = program === null || supply === undefined ? [] : [supply.folder]
  return launch(executor, offer, folder, fenceKey(offer.fence), {
    argv,
    env: Object.assign(
      program === null ? {} : { PYTHONDONTWRITEBYTECODE: '1' },
      programEnv(offer, {
        isolation: choice.isolation,
        workerEnv: env,
        python: interpreter?.path ?? null,
        virtualEnv: interpreter?.environment,
        modelsFolder: order === null ? modelFolder : MODELS_TARGET,
        gpus: mine,
        secretEnv: secrets.env,
        workFolder: choice.isolation === 'none' ? join(folder, 'work') : '/work',
        opener,
      }),
    ),
    secrets: secrets.launch,
    takesLines: offer.spec.session !== null,
    ...choice,
    container: order,
    devices: mine
      .filter(gpu => !gpu.simulated)
      .flatMap(gpu => [`/dev/nvidia${gpu.index}`, '/dev/nvidiactl', '/dev/nvidia-uvm']),
    ...(said === 0 ? {} : { saidBytes: said }),
    visiblePaths: [
      ...new Set([
        ...visiblePaths,
        ...prefix,
        ...(interpreter?.visiblePaths ?? []),
        ...programs,
        ...rankPaths(offer.spec),
        modelFolder,
      ]),
    ],
  })
}

function ownGpus(offer: Offer, gpus: readonly Gpu[]): readonly Gpu[] {
  return gpus.filter(gpu => offer.gpus.includes(gpu.uuid))
}

import type { AttemptReport, Offer, Progress } from '@stoker/protocol'
import { ModelAbsent, type ModelStore } from '../artifacts/model-store.ts'
import type { Transfers } from '../artifacts/transfers.ts'
import { Declined } from './declined.ts'
import type { Delivery } from './delivery.ts'
import { placeInputs } from './inputs.ts'
import { bringImage } from './pull-image.ts'
import { unlessSilent } from './unless-silent.ts'

/** A model takes as long as it takes, but not without a byte for this long. */
const MODEL_STALL_MS = 120_000

/** How the owner of this machine lets containers run, and the engine that does it. */
interface ContainerHost {
  readonly workerId: string
  /** Of the engine that answered last; null when none does. */
  readonly socket: () => string | null
  /** An image has come: it is told at once. */
  readonly imageCame: () => void
}

export interface BringPorts {
  readonly delivery: Delivery
  readonly transfers: Transfers
  readonly containers: ContainerHost
  readonly models: ModelStore
  readonly now: () => number
}

export interface BringWatch {
  readonly signal: AbortSignal
  readonly alive: () => void
}

/** Fetches inputs and shows how far they are. */
export async function bringInputs(offer: Offer, folder: string, ports: BringPorts, watch: BringWatch): Promise<void> {
  const step = steps(offer, ports, watch)
  step.begin('fetching inputs')
  await placeInputs(offer, folder, ports.transfers, {
    signal: watch.signal,
    onBytes: (here, all) => step.moved('fetching inputs', here, all),
  })
  step.over()
}

/** The folder of the job's model, fetched first where that is needed. */
export async function bringModel(offer: Offer, ports: BringPorts, watch: BringWatch): Promise<string> {
  const { model } = offer.spec
  if (model === null) return ports.models.emptyFolder
  const operation = `fetching model ${model?.name ?? ''}`
  const step = steps(offer, ports, watch)
  try {
    return await unlessSilent(
      { what: operation, ms: MODEL_STALL_MS, signal: watch.signal },
      async (signal, stillMoves) => {
        const onBytes = (here: number, all: number) => {
          stillMoves()
          step.begin(operation)
          step.moved(operation, here, all)
        }
        return ports.models.folderOf(model, { signal, onBytes, bandwidth: ports.transfers.bandwidth })
      },
    )
  } catch (error) {
    if (error instanceof ModelAbsent) throw new Declined(error.message, { cause: error })
    throw error
  } finally {
    step.over()
  }
}

/** The image, pulled where the spec asks for it. */
export async function bringContainerImage(
  offer: Offer,
  socket: string,
  pulls: boolean,
  ports: BringPorts,
  watch: BringWatch,
): Promise<void> {
  const { container } = offer.spec
  if (container === null) return
  const step = steps(offer, ports, watch)
  const cameNow = await bringImage(
    socket,
    container,
    { pulls },
    {
      signal: watch.signal,
      now: ports.now,
      onProgress: progress => {
        step.begin(`pulling ${container.image}`)
        step.show(progress)
      },
    },
  ).finally(() => step.over())
  if (cameNow) ports.containers.imageCame()
}

/** What is fetched is said once in the journal, by name, and then shown as it moves. */
export function steps({ fence }: Offer, { delivery, now }: BringPorts, { alive }: BringWatch) {
  let begun: string | null = null
  const show = (progress: Progress) => {
    alive()
    delivery.progress(fence, progress)
  }
  return {
    show,
    begin(operation: string): void {
      if (begun === operation) return
      begun = operation
      delivery.report([{ kind: 'starting', fence, at: now(), operation } satisfies AttemptReport])
    },
    moved(operation: string, here: number, all: number): void {
      show({ percent: all === 0 ? 100 : Math.floor((100 * here) / all), operation, metrics: {} })
    },
    over(): void {
      if (begun !== null) delivery.progress(fence, { percent: null, operation: null, metrics: {} })
    },
  }
}

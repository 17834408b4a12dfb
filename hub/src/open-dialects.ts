import type { RequestListener } from 'node:http'
import type { TrainForgeOptions } from './config.ts'
import type { OnDisconnect } from './gateways/openai/context.ts'
import { openGpuService } from './gpu-service-door.ts'
import { openOpenAi } from './openai-door.ts'
import { openQubix } from './qubix-door.ts'
import type { DescribedRoute } from './serving/described-route.ts'
import type { UpgradeRoute } from './serving/upgrades.ts'
import { openTrainForge } from './trainforge-door.ts'

/** Which protocols of other systems have ports of their own, and who may come without a token. */
export interface DialectOptions {
  /** A port of its own for the GPU-service API, which is below /gpu in any case. */
  readonly gpuServicePort?: number | undefined
  /** A port of its own for QUBIX workers and clients, who are served below /qubix in any case. */
  readonly qubixPort?: number | undefined
  /** Whoever is on this machine may speak QUBIX without a token. */
  readonly qubixOpen?: boolean | undefined
  /** What becomes of a waiting task when the client of the OpenAI endpoint leaves. */
  readonly openaiOnDisconnect?: OnDisconnect | undefined
  readonly trainforge?: TrainForgeOptions | undefined
}

/** Where dialects have ports of their own. */
export interface OwnAddresses {
  readonly gpuService: string | null
  readonly qubix: string | null
  readonly trainforge: string | null
}

export interface Dialects {
  /** Puts all of them below their prefixes, before everything else that is at a listener. */
  readonly front: (rest: RequestListener) => RequestListener
  readonly routes: readonly DescribedRoute[]
  readonly upgrades: readonly UpgradeRoute[]
  readonly figures: { readonly text: string }
  listen(host: string): Promise<OwnAddresses>
  close(): Promise<void>
}

type Needed = Omit<
  Parameters<typeof openGpuService>[0] &
    Parameters<typeof openOpenAi>[0] &
    Parameters<typeof openQubix>[0] &
    Parameters<typeof openTrainForge>[0],
  'isOpen' | 'onDisconnect' | keyof TrainForgeOptions
>

export async function openDialects(needed: Needed, options: DialectOptions): Promise<Dialects> {
  const gpuService = await openGpuService(needed)
  const openai = openOpenAi({ ...needed, onDisconnect: options.openaiOnDisconnect ?? 'cancel' })
  const qubix = openQubix({ ...needed, isOpen: options.qubixOpen ?? false })
  const trainforge = openTrainForge({ ...needed, ...options.trainforge })
  // What their workers were given before the hub went has terms that end, also if nobody comes back.
  const known = await needed.engine.read(
    ({ workers }) => new Set([...workers.values()].map(({ facts }) => facts.dialect?.name)),
  )
  if (known.has('qubix')) await qubix.open()
  if (known.has('trainforge')) await trainforge.open()
  const all = [openai, gpuService, qubix, trainforge]
  return {
    front: rest => all.reduce((inner, dialect) => dialect.front(inner), rest),
    routes: [...openai.routes, ...gpuService.routes],
    upgrades: qubix.upgrades,
    figures: openai.figures,
    listen: async host => ({
      gpuService: await gpuService.listen(host, options.gpuServicePort),
      qubix: await qubix.listen(host, options.qubixPort),
      trainforge: await trainforge.listen(host, options.trainforge?.port),
    }),
    close: async () => {
      for (const dialect of all) await dialect.close()
    },
  }
}

import { type DialectDoor, type DialectService, openDialect } from './dialect-door.ts'
import type { QubixContext } from './gateways/qubix/context.ts'
import type { consumerContext } from './qubix-consumer.ts'
import { Doorkeeper, type RateLimits } from './serving/rate-limit.ts'
import { whenAsked } from './when-asked.ts'

/** Where the dialect is on every listener of the hub. */
const NAME = 'qubix'
const TICK_MS = 1000

/** Far more than anyone has; ids that change at every start must not fill the memory. */
const MOST_WORKERS = 10_000

type Needed = Omit<QubixContext, 'door' | 'mostWorkers'> &
  Omit<Parameters<typeof consumerContext>[0], 'door'> & { readonly limits: RateLimits }

export function openQubix(needed: Needed): DialectDoor & { readonly open: () => Promise<void> } {
  const service = whenAsked(() => load(needed), needed.log)
  return { ...openDialect(NAME, service, needed.log), open: service.open }
}

async function load({ limits, ...needed }: Needed): Promise<DialectService> {
  const [{ createQubix }, { consumerContext }] = await Promise.all([
    import('./gateways/qubix/qubix.ts'),
    import('./qubix-consumer.ts'),
  ])
  const { log, now } = needed
  const context = { ...needed, door: new Doorkeeper(limits, now), mostWorkers: MOST_WORKERS }
  const service = await createQubix(context, consumerContext(context))
  const ticker = setInterval(
    () => void service.tick().catch(error => log('warn', `qubix: leases wait for the next second: ${error}`)),
    TICK_MS,
  )
  return {
    ...service,
    close: async () => {
      clearInterval(ticker)
      await service.close()
    },
  }
}

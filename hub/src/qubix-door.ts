import { type DialectDoor, openDialect } from './dialect-door.ts'
import type { QubixContext } from './gateways/qubix/context.ts'
import { createQubix } from './gateways/qubix/qubix.ts'
import { consumerContext } from './qubix-consumer.ts'
import { Doorkeeper, type RateLimits } from './serving/rate-limit.ts'

/** Where the dialect is on every listener of the hub. */
const NAME = 'qubix'
const TICK_MS = 1000

/** Far more than anyone has; ids that change at every start must not fill the memory. */
const MOST_WORKERS = 10_000

type Needed = Omit<QubixContext, 'door' | 'mostWorkers'> &
  Omit<Parameters<typeof consumerContext>[0], 'door'> & { readonly limits: RateLimits }

export async function openQubix({ limits, ...needed }: Needed): Promise<DialectDoor> {
  const { log, now } = needed
  const context = { ...needed, door: new Doorkeeper(limits, now), mostWorkers: MOST_WORKERS }
  const service = await createQubix(context, consumerContext(context))
  const ticker = setInterval(
    () => void service.tick().catch(error => log('warn', `qubix: leases wait for the next second: ${error}`)),
    TICK_MS,
  )
  const door = openDialect(NAME, service, log)
  return {
    ...door,
    close: async () => {
      clearInterval(ticker)
      await door.close()
    },
  }
}

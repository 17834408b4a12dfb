import type { RequestListener, Server } from 'node:http'
import type { Log } from '@stoker/files'
import { SERVER_OPTIONS } from './api/create-api.ts'
import { answerBrokenRequest } from './api/problems.ts'
import { nameOf } from './listeners/listen-address.ts'
import { type OpenServer, openServer } from './listeners/open-server.ts'
import { byPrefix } from './serving/by-prefix.ts'
import { routeUpgrades, type TakeUpgrade, type UpgradeRoute } from './serving/upgrades.ts'

/** A protocol of another system, as its gateway serves it. */
export interface DialectService {
  /** Takes requests whose paths begin at the dialect's own root. */
  readonly request: RequestListener
  /** Takes upgrades below the dialect's own root. */
  readonly upgrade?: TakeUpgrade | undefined
  close(): Promise<void>
}

export interface DialectDoor {
  /** Puts the dialect below its prefix, before everything else that is at a listener. */
  readonly front: (rest: RequestListener) => RequestListener
  /** Upgrades below its prefix; none for a dialect without them. */
  readonly upgrades: readonly UpgradeRoute[]
  /** Opens a port of its own, where its paths are at the root, if one is given; tells the address. */
  listen(host: string, port: number | undefined): Promise<string | null>
  close(): Promise<void>
}

/** A dialect is never at the root of the hub's own address: their routes collide. */
export function openDialect(name: string, service: DialectService, log: Log): DialectDoor {
  let server: OpenServer | null = null
  const { upgrade } = service
  return {
    upgrades: upgrade === undefined ? [] : [{ prefix: `/${name}`, take: upgrade }],
    front: rest => byPrefix(`/${name}`, service.request, rest),
    listen: async (host, port) => {
      if (port === undefined) return null
      const { request } = service
      const attach = (own: Server) => {
        if (upgrade !== undefined) routeUpgrades(own, [{ prefix: '', take: upgrade }])
      }
      const reception = { options: SERVER_OPTIONS, request, broken: answerBrokenRequest, attach }
      server = await openServer({ secure: false, host, port }, null, reception)
      const url = `http://${nameOf(server.address)}`
      log('info', `${name}: listening on ${url}`)
      return url
    },
    close: async () => {
      await service.close()
      await server?.close()
    },
  }
}

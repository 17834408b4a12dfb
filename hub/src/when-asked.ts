import type { Log } from '@stoker/files'
import type { DialectService } from './dialect-door.ts'
import { refuseUpgrade, type TakeUpgrade } from './serving/upgrades.ts'

export interface ServiceWhenAsked extends DialectService {
  readonly upgrade: TakeUpgrade
  /** For what cannot wait for a request. */
  open(): Promise<void>
}

/** A service that most hubs are never asked for: its first request loads and opens it, later ones go straight to it. */
export function whenAsked(load: () => Promise<DialectService>, log: Log): ServiceWhenAsked {
  let service: DialectService | null = null
  let opening: Promise<DialectService> | null = null
  const opened = () => {
    opening ??= load().then(
      loaded => {
        service = loaded
        return loaded
      },
      error => {
        opening = null
        log('error', `a service cannot be opened: ${error instanceof Error ? error.stack : error}`)
        throw error
      },
    )
    return opening
  }
  return {
    request: (request, response) => {
      if (service !== null) return service.request(request, response)
      void opened().then(
        ready => ready.request(request, response),
        () => response.writeHead(500).end(),
      )
    },
    upgrade: (request, socket, head) => {
      void opened().then(
        ({ upgrade }) => (upgrade ?? refuseUnknown)(request, socket, head),
        () => refuseUpgrade(socket, '500 Internal Server Error'),
      )
    },
    open: async () => {
      await opened()
    },
    close: async () => {
      if (opening !== null) await (await opening).close()
    },
  }
}

const refuseUnknown: TakeUpgrade = (_request, socket) => refuseUpgrade(socket, '404 Not Found')

import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'

/** Takes over a connection that asks for another protocol, or refuses it. */
export type TakeUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

/** Who takes what is asked for at a path and below it; it sees the rest of the path. */
export interface UpgradeRoute {
  readonly prefix: string
  readonly take: TakeUpgrade
}

/** One listener for all upgrades of a server: the first route whose prefix fits has it, nobody else's is refused. */
export function routeUpgrades(server: Server, routes: readonly UpgradeRoute[]): void {
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    const url = request.url ?? '/'
    for (const { prefix, take } of routes) {
      const rest = url.startsWith(prefix) ? url.slice(prefix.length) : null
      if (rest === null || !/^($|[/?])/.test(rest)) continue
      request.url = rest.startsWith('/') ? rest : `/${rest}`
      take(request, socket, head)
      return
    }
    refuseUpgrade(socket, '404 Not Found')
  })
}

export function refuseUpgrade(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

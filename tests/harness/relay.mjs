import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'

/**
 * Carries TCP connections from `listen` to `target` as a bad network would: what packet loss and reordering come to for
 * programs is time (a lost packet holds back all behind it) and broken connections. The faults are read from a file:
 * {"delayMs", "stall" and "cut" (chances per piece), "stallMs"}.
 */
const [listen, target, faultsFile] = process.argv.slice(2)
const [host, port] = listen.split(':')
const [targetHost, targetPort] = target.split(':')

let faults = {}
const read = () => {
  try {
    faults = JSON.parse(readFileSync(faultsFile, 'utf8'))
  } catch {
    // Between two writes, or none yet: what was known stays.
  }
}
read()
setInterval(read, 50)

const server = createServer({ allowHalfOpen: true }, client => {
  const way = connect({ host: targetHost, port: Number(targetPort), allowHalfOpen: true })
  carry(client, way)
  carry(way, client)
})
server.listen(Number(port), host, () => {
  process.stdout.write(`${JSON.stringify({ ready: true, port: server.address().port })}\n`)
})
process.on('SIGTERM', () => process.exit(0))

function carry(from, to) {
  let free = 0
  const later = (act, extraMs = 0) => {
    free = Math.max(free, performance.now() + (faults.delayMs ?? 0) + extraMs)
    setTimeout(act, free - performance.now())
  }
  const breakOff = () => {
    from.destroy()
    to.destroy()
  }
  from.on('data', piece => {
    if (Math.random() < (faults.cut ?? 0)) breakOff()
    else later(() => to.write(piece), Math.random() < (faults.stall ?? 0) ? (faults.stallMs ?? 0) : 0)
  })
  from.on('end', () => later(() => to.end()))
  from.on('error', breakOff)
}

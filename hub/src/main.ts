import { backUp, restore } from './backup.ts'
import { type HubCommand, readCommand } from './config.ts'
import { startHub } from './hub.ts'
import { verifyFolder } from './verify-folder.ts'

const say = (text: string) => process.stderr.write(`stoker hub: ${text}\n`)

try {
  await run(readCommand(process.argv.slice(2)))
} catch (error) {
  say(sentence(error))
  process.exit(1)
}

async function run(command: HubCommand): Promise<void> {
  switch (command.command) {
    case 'serve':
      return serve(command)
    case 'backup':
      return backUp(command.data, command.to)
    case 'restore':
      return restore(command.from, command.data)
    case 'verify':
      process.exitCode = (await verifyFolder(command.data, command.json)) ? 0 : 1
  }
}

async function serve({ data, host, port, retention }: Extract<HubCommand, { command: 'serve' }>): Promise<void> {
  const hub = await startHub({
    folder: data,
    host,
    port,
    retention,
    log: (_level, text) => say(text),
    broken: error => {
      say(`cannot go on: ${sentence(error)}`)
      process.exit(70)
    },
  })
  process.stdout.write(`${JSON.stringify({ ready: true, url: hub.url, epoch: hub.epoch })}\n`)
  let isStopping = false
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping) process.exit(130)
      isStopping = true
      void hub.close().then(() => process.exit(0))
    })
  }
}

function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && error.code === 'EADDRINUSE')
    return `${error.message}; another hub or program listens there, choose another with --port`
  return error.message
}

import { join } from 'node:path'
import { createLog, onParentGone } from '@stoker/files'
import { backUp, restore } from './backup.ts'
import { checkPresets } from './check-presets.ts'
import { type HubCommand, readCommand } from './config.ts'
import { startHub } from './hub.ts'
import { readProgramBook } from './programs/program-book.ts'
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
    case 'check-presets':
      process.exitCode = (await checkPresets(
        command.presets,
        await readProgramBook(join(import.meta.dirname, 'jobs')),
        command.form,
      ))
        ? 0
        : 1
      return
    case 'verify':
      process.exitCode = (await verifyFolder(command.data, command.json)) ? 0 : 1
  }
}

async function serve(command: Extract<HubCommand, { command: 'serve' }>): Promise<void> {
  const { data, command: _, supervised, log: logTerms, ...options } = command
  const log = createLog({ ...logTerms, part: 'hub', write: line => process.stderr.write(line), now: Date.now })
  const hub = await startHub({
    ...options,
    folder: data,
    log,
    broken: error => {
      log('error', `cannot go on: ${sentence(error)}`)
      process.exit(70)
    },
  })
  let isStopping = false
  const stop = () => {
    isStopping = true
    void hub.close().then(() => process.exit(0))
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping) process.exit(130)
      stop()
    })
  }
  if (supervised)
    onParentGone(() => {
      if (!isStopping) stop()
    })
  const { url, epoch, listeners, gpuService, qubix, trainforge } = hub
  const own = { gpuService, qubix, trainforge }
  process.stdout.write(`${JSON.stringify({ ready: true, url, epoch, listeners, ...own })}\n`)
}

function sentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && error.code === 'EADDRINUSE')
    return `${error.message}; another hub or program listens there, choose another with --port, or --qubix-port for QUBIX`
  return error.message
}

import { fileURLToPath } from 'node:url'
import { startChild } from '../processes/child.ts'
import { tookOf } from '../processes/took-of.ts'

const SERVER = fileURLToPath(new URL('./put-server.ts', import.meta.url))
const CLIENT = fileURLToPath(new URL('./put-client.ts', import.meta.url))

export interface PutPeer {
  /** Milliseconds for the whole file, with or without a sync at its end. */
  send(file: string, sha256: string, isSynced: boolean): Promise<number>
  stop(): Promise<void>
}

/** Plain HTTP from one Node process to the disk of another. It keeps what it takes, as a hub does: files that are removed at once would leave the next ones warmer memory. */
export async function startPutPeer(path: string): Promise<PutPeer> {
  const server = await startChild({
    name: 'the PUT server',
    command: process.execPath,
    args: ['--import', 'tsx', SERVER, path],
    ready: /^ready \d+$/,
  })
  const url = `http://127.0.0.1:${server.readyLine.split(' ')[1]}`
  return {
    send: (file, sha256, isSynced) =>
      tookOf('the PUT client', [CLIENT, file, `${url}/${isSynced ? 'synced' : ''}`, sha256]),
    stop: server.stop,
  }
}

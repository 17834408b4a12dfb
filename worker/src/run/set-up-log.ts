import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Offer } from '@stoker/protocol'
import type { Delivery } from './delivery.ts'
import { GrownFiles } from './grown-file.ts'

/** Of what was said by others: a flood of it must not fill the job's log. */
const MOST_BYTES = 16e6

/** Says, in an attempt's folder, how far its log had come when its program started. Most attempts have none. */
const RECORD = 'said'

/** Of stderr: what is before this place was not said by the program. */
export function saidBefore(folder: string): number {
  const record = join(folder, RECORD)
  return existsSync(record) ? Number(readFileSync(record, 'utf8')) : 0
}

/** What is said in a job's log before its program runs: it goes on in the same file. At once, as its sources may vanish. */
export class SetUpLog {
  readonly #offer: Offer
  readonly #path: string
  readonly #delivery: Delivery
  readonly #sources = new GrownFiles()
  #size: number

  /** An earlier process of this worker may have begun it. */
  constructor(offer: Offer, folder: string, delivery: Delivery) {
    this.#offer = offer
    this.#path = join(folder, 'stderr')
    this.#delivery = delivery
    this.#size = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
  }

  /** From here on the program speaks, also for a worker that takes it over. */
  close(): number {
    if (this.#size > 0) writeFileSync(join(dirname(this.#path), RECORD), String(this.#size), { mode: 0o600 })
    return this.#size
  }

  /** Takes over what a file has grown by, up to so many bytes. */
  follow(file: string, bytes: number): void {
    this.#sources.read(file, Math.min(bytes, MOST_BYTES), piece => this.#append(piece))
    this.#tell()
  }

  #append(bytes: Uint8Array): void {
    appendFileSync(this.#path, bytes, { mode: 0o600 })
    this.#size += bytes.length
  }

  #tell(): void {
    this.#delivery.output(this.#offer.fence, { stdout: 0, stderr: this.#size })
  }
}

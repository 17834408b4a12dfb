import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { type JobRecord, parseRecord } from './job-record.ts'

/** Enough that a hub which lost a report and offers the job again, even days later, is told instead of served twice. */
const KEPT_TOLD = 256
const NAME = /^(\d+)\.json$/

type Fresh = Pick<JobRecord, 'id' | 'hub' | 'job' | 'takenAt' | 'need' | 'uuids' | 'isPlaced'>

/** The jobs of foreign hubs, one small file each: what is held, what ended and is not told yet, and the last ones that were told. */
export class JobJournal {
  readonly #folder: string
  readonly #open = new Map<number, JobRecord>()
  /** By hub and id, in the order in which they were told. */
  readonly #told = new Map<string, number>()
  #next: number

  /** `first` is the number of the first job ever: workers of one machine must not share any, as programs are known by them. */
  constructor(
    folder: string,
    {
      first = 1,
      unreadable = () => {},
    }: { readonly first?: number; readonly unreadable?: (path: string) => void } = {},
  ) {
    this.#folder = folder
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const numbers = readdirSync(folder).flatMap(name => Number(NAME.exec(name)?.[1] ?? []))
    numbers.sort((a, b) => a - b)
    this.#next = (numbers.at(-1) ?? first - 1) + 1
    for (const number of numbers) {
      const record = this.#read(number)
      if (record === null) unreadable(this.#path(number))
      else if (record.toldAt === null) this.#open.set(number, record)
      else this.#told.set(keyOf(record), number)
    }
  }

  /** Not told yet. */
  get open(): readonly JobRecord[] {
    return [...this.#open.values()]
  }

  /** Numbers below are taken by folders that others know of. */
  startFrom(number: number): void {
    this.#next = Math.max(this.#next, number)
  }

  create(of: Fresh): JobRecord {
    const record: JobRecord = {
      ...of,
      ...{ number: this.#next, attempt: 1, note: {}, startedAt: null, end: null, isDeclined: false },
      ...{ sizes: { stdout: 0, stderr: 0 }, logged: { stdout: 0, stderr: 0 }, said: null, toldAt: null },
    }
    this.#next += 1
    this.#open.set(record.number, record)
    this.save(record)
    return record
  }

  find(of: Pick<JobRecord, 'hub' | 'id'>): JobRecord | null {
    const open = [...this.#open.values()].find(record => keyOf(record) === keyOf(of))
    const told = this.#told.get(keyOf(of))
    return open ?? (told === undefined ? null : this.#read(told))
  }

  /** Outlives the worker's death; `durable` ones also that of the machine. */
  save(record: JobRecord, { durable = false } = {}): void {
    const path = this.#path(record.number)
    const fd = openSync(`${path}~`, 'w', 0o600)
    try {
      writeSync(fd, JSON.stringify(record))
      if (durable) fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(`${path}~`, path)
  }

  /** The hub has answered for good: only what it takes to say it again is kept. */
  told(record: JobRecord, at: number): void {
    this.#open.delete(record.number)
    this.save({ ...record, toldAt: at, job: null, note: {} })
    this.#told.set(keyOf(record), record.number)
    for (const [key, number] of this.#told) {
      if (this.#told.size <= KEPT_TOLD) break
      this.#told.delete(key)
      rmSync(this.#path(number), { force: true })
    }
  }

  /** It was never ours. */
  forget(record: JobRecord): void {
    this.#open.delete(record.number)
    rmSync(this.#path(record.number), { force: true })
  }

  #read(number: number): JobRecord | null {
    try {
      return parseRecord(JSON.parse(readFileSync(this.#path(number), 'utf8')))
    } catch {
      return null
    }
  }

  #path(number: number): string {
    return join(this.#folder, `${number}.json`)
  }
}

function keyOf({ hub, id }: Pick<JobRecord, 'hub' | 'id'>): string {
  return `${hub}\n${id}`
}

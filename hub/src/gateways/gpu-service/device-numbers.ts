import type { Gpu } from '@stoker/protocol'
import type { EngineLoop } from '../../engine/loop.ts'
import type { State } from '../../engine/state.ts'

export interface RememberedDevices {
  read(): Promise<readonly string[]>
  write(uuids: readonly string[]): Promise<void>
}

/**
 * The numbers clients know devices by: 0, 1, 2… in the order in which devices were first seen, those of one machine by
 * their index. A device keeps its number for ever, also while its machine is away; a number is never given twice.
 */
export class DeviceNumbers {
  readonly #numbers = new Map<string, number>()
  readonly #remembered: RememberedDevices
  #last: Promise<void> = Promise.resolve()

  private constructor(remembered: RememberedDevices, known: readonly string[]) {
    this.#remembered = remembered
    for (const uuid of known) this.#numbers.set(uuid, this.#numbers.size)
  }

  static async open(
    remembered: RememberedDevices,
    engine: Pick<EngineLoop, 'read' | 'onCommit'>,
  ): Promise<{ numbers: DeviceNumbers; close: () => Promise<void> }> {
    const numbers = new DeviceNumbers(remembered, await remembered.read())
    const stop = engine.onCommit(({ changes }) => {
      for (const change of changes) if (change.c === 'worker') void numbers.#meet(change.hardware.gpus).catch(() => {})
    })
    const inOrder = await engine.read(({ workers }: State) =>
      [...workers.values()].sort((a, b) => a.registeredAt - b.registeredAt).map(({ facts }) => facts.hardware.gpus),
    )
    for (const gpus of inOrder) await numbers.#meet(gpus)
    return {
      numbers,
      close: async () => {
        stop()
        await numbers.settled()
      },
    }
  }

  /** Null for a device that no worker ever showed. */
  of(uuid: string): number | null {
    return this.#numbers.get(uuid) ?? null
  }

  /** All devices that were met so far have numbers that will stay. */
  settled(): Promise<void> {
    return this.#last
  }

  /** Written before anybody is told: what a client heard once stays true. */
  #meet(gpus: readonly Gpu[]): Promise<void> {
    const turn = this.#last.then(async () => {
      const fresh = [...gpus].sort((a, b) => a.index - b.index).filter(({ uuid }) => !this.#numbers.has(uuid))
      if (fresh.length === 0) return
      const uuids = [...this.#numbers.keys(), ...fresh.map(({ uuid }) => uuid)]
      await this.#remembered.write(uuids)
      for (const { uuid } of fresh) this.#numbers.set(uuid, this.#numbers.size)
    })
    this.#last = turn.catch(() => {})
    return turn
  }
}

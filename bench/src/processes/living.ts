interface Living {
  readonly stop: () => Promise<void>
  readonly isCommand: boolean
}

/** Each process that lives, those included that are still starting and that nobody holds yet. */
const living = new Set<Living>()
let isOver = false

/** Before a process is started: after the end nothing begins any more. */
export function mayStart(): void {
  if (isOver) throw new Error('the bench is being stopped')
}

/** Remembers how to stop a process until it is gone. */
export function whileItLives(it: Living, gone: Promise<unknown>): void {
  living.add(it)
  const forget = () => living.delete(it)
  gone.then(forget, forget)
}

/** Whatever was started is gone once this resolves. Commands go first: one that misses its server may start another. */
export async function stopAllChildren(): Promise<void> {
  for (const isCommand of [true, false]) {
    await Promise.all([...living].filter(it => it.isCommand === isCommand).map(({ stop }) => stop()))
  }
}

/** For a bench that is stopped in its midst, while its measure still tries to go on. */
export function stopForGood(): Promise<void> {
  isOver = true
  return stopAllChildren()
}

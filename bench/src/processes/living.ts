/** How to stop each process that lives, those included that are still starting and that nobody holds yet. */
const living = new Set<() => Promise<void>>()

/** Remembers how to stop a process until it is gone. */
export function whileItLives(stop: () => Promise<void>, gone: Promise<unknown>): void {
  living.add(stop)
  const forget = () => living.delete(stop)
  gone.then(forget, forget)
}

/** For a bench that is stopped in its midst: whatever was started is gone once this resolves. */
export async function stopAllChildren(): Promise<void> {
  await Promise.all([...living].map(stop => stop()))
}

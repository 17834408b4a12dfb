/** One task at a time in the order of the calls; a task that meets an idle lane runs before the call returns. */
export interface Lane {
  run<T>(task: () => T | Promise<T>): Promise<T>
  /** Resolves when every task given so far has ended. */
  idle(): Promise<void>
}

export function createLane(): Lane {
  let tail: Promise<void> | null = null

  function hold<T>(result: Promise<T>): Promise<T> {
    const ended = result.then(release, release)
    function release(): void {
      if (tail === ended) tail = null
    }
    tail = ended
    return result
  }

  function run<T>(task: () => T | Promise<T>): Promise<T> {
    if (tail !== null) return hold(tail.then(task))
    try {
      const result = task()
      return result instanceof Promise ? hold(result) : Promise.resolve(result)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  return { run, idle: async () => tail ?? undefined }
}

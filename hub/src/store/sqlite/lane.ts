/** One task at a time in the order of the calls; a task that meets an idle lane runs before the call returns. */
export interface Lane {
  run<T>(task: () => T | Promise<T>): Promise<T>
  /**
   * A task that hands its work over to someone who keeps the order, and says when it did: the next one that joins need not
   * wait for its end, only for that. All others wait for its end.
   */
  join<T>(task: (handedOver: () => void) => Promise<T>): Promise<T>
  /** Resolves when every task given so far has ended. */
  idle(): Promise<void>
}

export function createLane(): Lane {
  let tail: Promise<void> | null = null
  /** The end of the last task, if that has handed its work over. */
  let joinable: Promise<void> | null = null

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

  function join<T>(task: (handedOver: () => void) => Promise<T>): Promise<T> {
    let ended: Promise<void> | null = null
    let isOver = false
    const handedOver = () => {
      isOver = true
      if (tail === ended) joinable = ended
    }
    const result = hold(tail === null || tail === joinable ? task(handedOver) : tail.then(() => task(handedOver)))
    ended = tail
    if (isOver) joinable = ended
    return result
  }

  return { run, join, idle: async () => tail ?? undefined }
}

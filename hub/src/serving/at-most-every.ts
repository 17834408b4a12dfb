/** Runs at once when poked after a pause, else once at the end of the pause, however often it is poked meanwhile. */
export function atMostEvery(
  pauseMs: number,
  run: () => void,
): { readonly poke: () => void; readonly stop: () => void } {
  let timer: NodeJS.Timeout | null = null
  let isPoked = false
  const start = (): void => {
    run()
    timer = setTimeout(() => {
      timer = null
      if (!isPoked) return
      isPoked = false
      start()
    }, pauseMs)
  }
  return {
    poke: () => {
      if (timer === null) start()
      else isPoked = true
    },
    stop: () => {
      if (timer !== null) clearTimeout(timer)
      isPoked = false
    },
  }
}

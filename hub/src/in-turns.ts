/** Does each of these once in a period, at different moments: done together they would keep everything else waiting for all of them. */
export function inTurns(periodMs: number, tasks: readonly (() => void)[]): NodeJS.Timeout {
  let turn = 0
  return setInterval(() => {
    tasks[turn % tasks.length]?.()
    turn += 1
  }, periodMs / tasks.length)
}

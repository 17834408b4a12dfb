/**
 * Calls back once when whoever started this process and holds the other end of its stdin is gone, however it went.
 * What is said from then on has no reader, which is no reason to fail.
 */
export function onParentGone(gone: () => void): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  let isTold = false
  const tell = () => {
    if (!isTold) gone()
    isTold = true
  }
  process.stdin.on('end', tell).on('error', tell).resume()
}

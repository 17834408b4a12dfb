/** Works through a list, so many at once, and stops taking new ones at the first failure; the results are in the order of the list. */
export async function atOnce<T, R>(
  count: number,
  items: Iterable<T>,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const entries = [...items].entries()
  const results: R[] = []
  let hasFailed = false
  const lane = async () => {
    for (const [index, item] of entries) {
      if (hasFailed) return
      try {
        results[index] = await work(item, index)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: count }, lane))
  const failed = lanes.find(result => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return results
}

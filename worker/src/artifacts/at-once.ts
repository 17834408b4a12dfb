/** Works through a list, so many at once, and stops taking new ones at the first failure. */
export async function atOnce<T>(
  count: number,
  items: Iterable<T>,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const entries = [...items].entries()
  let hasFailed = false
  const lane = async () => {
    for (const [index, item] of entries) {
      if (hasFailed) return
      try {
        await work(item, index)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: count }, lane))
  const failed = lanes.find(result => result.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

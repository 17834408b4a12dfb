export type QueryValue = string | number | readonly string[] | undefined

/** `?a=1&b=x&b=y`, without what is undefined; empty when nothing is left. */
export function queryText(values: Readonly<Record<string, QueryValue>>): string {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) search.append(key, String(one))
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

/** The first place where two JSON-able values differ, with what each has there; null if they are equal. */
export function difference(left: unknown, right: unknown, path = ''): string | null {
  if (Object.is(left, right)) return null
  if (!isBranch(left) || !isBranch(right) || Array.isArray(left) !== Array.isArray(right)) {
    return `${path === '' ? 'the whole' : path} is ${show(left)} in one and ${show(right)} in the other`
  }
  for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const found = difference(left[key], right[key], path === '' ? key : `${path}.${key}`)
    if (found !== null) return found
  }
  return null
}

function isBranch(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  return text.length > 200 ? `${text.slice(0, 199)}…` : text
}

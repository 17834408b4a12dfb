interface Teller {
  readonly type: string
  readonly isTrusted: boolean
}

const URL_FIELDS = ['modelUrl', 'checkpointUrl', 'resultUrl', 'result_url', 'images'] as const

/** Why a result is not to be taken at its word: the hub keeps it, and says so. */
export function doubtsOn(result: unknown, { type, isTrusted }: Teller): string[] {
  const fields = typeof result === 'object' && result !== null ? (result as Readonly<Record<string, unknown>>) : {}
  const named = URL_FIELDS.filter(field => [fields[field]].flat().some(isAddress))
  return [
    ...(fields.simulated === true ? ['its worker says that it was simulated'] : []),
    ...named.map(field => `${field} names content of which this hub has no bytes`),
    ...(isAddress(result) ? ['it names content of which this hub has no bytes'] : []),
    ...(isTrusted ? [] : [`workers of this kind may make up what they say of type ${type}`]),
  ]
}

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && /^[a-z][a-z0-9+.-]*:\/\//i.test(value)
}

/** A function as it was called by the one below it; its weight includes what it called. */
export interface Frame {
  readonly name: string
  readonly weight: number
  /** A bundle of ours, with the libraries in it; Node's own JavaScript; or the engine itself, as when it collects. */
  readonly origin: 'bundle' | 'node' | 'engine'
  /** Heaviest first. */
  readonly callees: readonly Frame[]
}

/** What V8 says of a call in a profile of either kind, with what it weighs by itself. */
export interface Call {
  readonly callFrame: { readonly functionName: string; readonly url: string }
  readonly self: number
  readonly callees: readonly Call[]
}

/** Calls of one function from one place are one frame, however often V8 compiled it. */
export function framesOf(calls: readonly Call[]): readonly Frame[] {
  const alike = new Map<string, Call[]>()
  for (const call of calls) {
    const key = `${call.callFrame.functionName} ${call.callFrame.url}`
    const group = alike.get(key)
    if (group === undefined) alike.set(key, [call])
    else group.push(call)
  }
  return Array.from(alike.values(), frameOf).sort((a, b) => b.weight - a.weight)
}

export function weightOf(frames: readonly Frame[]): number {
  return frames.reduce((sum, { weight }) => sum + weight, 0)
}

function frameOf(group: readonly Call[]): Frame {
  const { functionName = '', url = '' } = group[0]?.callFrame ?? {}
  const callees = framesOf(group.flatMap(call => call.callees))
  const self = group.reduce((sum, call) => sum + call.self, 0)
  return { name: functionName || '(anonymous)', origin: originOf(url), weight: self + weightOf(callees), callees }
}

function originOf(url: string): Frame['origin'] {
  if (url === '') return 'engine'
  return url.startsWith('node:') ? 'node' : 'bundle'
}

import type { Abilities, JobSpec } from '@stoker/protocol'

export interface Isolation {
  readonly isolation: 'none' | 'sandbox'
  readonly network: 'none' | 'internet' | 'host'
}

/** The strongest isolation that serves the spec here, or the sentence why none does. */
export function chooseIsolation(spec: JobSpec, abilities: Abilities): Isolation | string {
  const network = spec.network ?? 'none'
  const sandboxServes =
    abilities.sandbox && (network !== 'internet' || abilities.internet) && (network !== 'host' || abilities.hostNetwork)
  if (spec.isolation !== 'none' && sandboxServes) return { isolation: 'sandbox', network }
  if (spec.isolation !== 'sandbox' && abilities.unsandboxed && spec.network !== 'none')
    return { isolation: 'none', network: 'host' }
  return `the job wants isolation ${spec.isolation} with network ${spec.network ?? 'as the sandbox has it'}, this worker has ${abilities.note ?? 'nothing that serves'}`
}

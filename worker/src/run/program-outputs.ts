import { isProgramType, type Offer } from '@stoker/protocol'

/** Where the programs of types leave their files, if they leave any. */
export const PROGRAM_OUTPUTS = 'outputs/**'

/** What a program of a type leaves is kept, also when the job does not say so. */
export function withProgramOutputs(offer: Offer): Offer {
  const { spec } = offer
  if (!isProgramType(spec.type) || spec.outputs.length > 0) return offer
  return { ...offer, spec: { ...spec, outputs: [PROGRAM_OUTPUTS] } }
}

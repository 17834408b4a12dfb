import type { PolicyName } from '@stoker/protocol'
import { packed } from './packed.ts'
import type { Policy } from './policy.ts'
import { spread } from './spread.ts'

/** Every policy by its name. */
export const POLICIES: Readonly<Record<PolicyName, Policy>> = { packed, spread }

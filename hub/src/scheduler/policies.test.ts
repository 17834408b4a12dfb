import { POLICY_NAMES } from '@stoker/protocol'
import { describe } from 'vitest'
import { POLICIES } from './policies.ts'
import { policyContract } from './policy-contract.ts'

describe.each(POLICY_NAMES)('%s', name => policyContract(POLICIES[name]))

import { describe } from 'vitest'
import { goldenContract } from '../golden-contract.ts'
import { Change } from './change.ts'

describe('changes in the journal', () => {
  goldenContract(
    new URL('./golden/', import.meta.url),
    Change,
    Change.options.map(option => option.shape.c.value),
  )
})

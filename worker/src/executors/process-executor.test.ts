import { describeResults } from './contract.ts'
import { describeEnds } from './contract-ends.ts'
import { describeLines } from './contract-lines.ts'

for (const isolation of ['none', 'sandbox'] as const) {
  describeResults(isolation)
  describeEnds(isolation)
  describeLines(isolation)
}

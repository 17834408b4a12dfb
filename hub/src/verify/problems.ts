import type { Fence } from '@stoker/protocol'

/** Which promise of the house was broken, as the list of guarantees names them; `limit` and `schedule` are what owners set, `journal` is the ground they all stand on. */
export type Guarantee = 'a' | 'b' | 'c' | 'd' | 'f' | 'g' | 'limit' | 'schedule' | 'journal'

export interface VerifyProblem {
  readonly guarantee: Guarantee
  /** A sentence with the two facts that disagree. */
  readonly text: string
  /** The commit that showed it, when one did. */
  readonly n: number | null
}

/** Where the parts of the checker put what they find. */
export type Complain = (guarantee: Guarantee, text: string) => void

export function nameFence({ job, epoch, attempt }: Fence): string {
  return `attempt ${attempt} of job ${job} (epoch ${epoch})`
}

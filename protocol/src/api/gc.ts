import { z } from 'zod'

const Part = z.object({ count: z.int(), bytes: z.int() })

/** What retention takes away, or would: jobs and pieces by number, with the bytes they hold. */
export const GcReport = z.object({
  /** Ended jobs, with everything about them. */
  jobs: z.object({ count: z.int() }),
  /** Pieces of output of ended jobs. */
  logs: Part,
  artifacts: Part,
  /** Content that no job and no artifact needs. */
  content: Part,
  /** Uploads nobody went on with. */
  uploads: Part,
})
export type GcReport = z.infer<typeof GcReport>

import { z } from 'zod'

/** As many as one submit takes. */
export const MAX_MEMBERS = 10_000

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
const Value = z.union([
  z
    .string()
    .max(1000)
    .regex(/^[^\0]*$/, 'no NUL character is allowed'),
  z.number(),
  z.boolean(),
])
export type SweepValue = z.infer<typeof Value>

const Assignments = z.array(z.record(z.string(), Value)).max(MAX_MEMBERS)

const ArrayInput = z.union([
  z.int().min(1).max(MAX_MEMBERS),
  z.strictObject({
    from: z.int().min(0),
    to: z
      .int()
      .min(0)
      .max(2 ** 31),
    step: z.int().min(1).optional(),
  }),
])

const MatrixInput = z
  .object({ include: Assignments.optional(), exclude: Assignments.optional() })
  .catchall(z.array(Value).min(1, 'a name of the matrix has at least one value').max(MAX_MEMBERS))

/** What makes one written spec many jobs, a group. */
export const SweepInput = z.strictObject({
  array: ArrayInput.optional(),
  matrix: MatrixInput.optional(),
  /** How many members are active at once. */
  maxParallel: z.int().min(1).max(MAX_MEMBERS).optional(),
})
export type SweepInput = z.input<typeof SweepInput>

export const SWEEP_KEYS = Object.keys(SweepInput.shape) as readonly (keyof SweepInput)[]

export function isMatrixName(name: string): boolean {
  return NAME.test(name)
}

/** `lr` and `Lr` would be one variable. */
export function matrixVariable(name: string): string {
  return `MATRIX_${name.toUpperCase()}`
}

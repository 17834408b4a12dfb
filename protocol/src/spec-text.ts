import { z } from 'zod'

/** Neither a program's words nor stored text can hold the character that ends them. */
export const word = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[^\0]*$/, 'no NUL character is allowed')

export const text = (max: number) => word(max).min(1)

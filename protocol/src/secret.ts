import { z } from 'zod'

/** Above this a value is a file that belongs among the inputs, not a secret. */
export const MAX_SECRET_BYTES = 32 * 1024
/** Shorter values are too common in ordinary output to be hidden there. */
export const SHORTEST_HIDDEN_BYTES = 8

/** Also the name of its file, and often of a variable: so nothing in it can be a path or a word of a shell. */
export const SecretName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'a secret name has up to 100 letters, digits and _, and no digit in front')

const Variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'a variable name has up to 100 letters, digits and _')

/** A name alone is a file below $STOKER_SECRETS; an environment variable only when asked for. */
export const SecretUseInput = z.union([SecretName, z.strictObject({ name: SecretName, env: Variable.optional() })])

/** How a job uses a secret; `env` null means as a file. */
export const SecretUse = z.object({ name: z.string(), env: z.string().nullable() })
export type SecretUse = Readonly<z.infer<typeof SecretUse>>

/** Values for one attempt, in base64, or why they are not given; `final` when no other worker could help. */
export const OfferedSecrets = z.union([
  z.object({ given: z.array(SecretUse.extend({ value: z.string() })) }),
  z.object({ withheld: z.string(), final: z.boolean() }),
])
export type OfferedSecrets = Readonly<z.infer<typeof OfferedSecrets>>

export function secretUses(input: readonly z.infer<typeof SecretUseInput>[]): SecretUse[] {
  return input.map(use =>
    typeof use === 'string' ? { name: use, env: null } : { name: use.name, env: use.env ?? null },
  )
}

/** What is wrong with the uses of one job, with its path. */
export function checkSecretUses(
  uses: readonly SecretUse[],
  env: Readonly<Record<string, string>>,
): readonly { readonly path: string; readonly message: string }[] {
  const seen = new Set<string>()
  return uses.flatMap((use, index) => {
    const place = use.env === null ? `file ${use.name}` : `variable ${use.env}`
    const path = `secrets[${index}]`
    if (use.env !== null && Object.hasOwn(env, use.env))
      return [{ path: `${path}.env`, message: `${use.env} is also in env; one variable has one value` }]
    if (use.env?.startsWith('STOKER_') === true)
      return [{ path: `${path}.env`, message: `${use.env} is a name the worker sets itself` }]
    if (seen.has(place)) return [{ path, message: `the ${place} is named twice` }]
    seen.add(place)
    return []
  })
}

import { Refused } from '@stoker/protocol'
import type { Command, Facts, NewJob, Replies } from '../commands.ts'
import { type SecretState, secretKey } from '../owner-things.ts'
import type { Now, State } from '../state.ts'
import type { Emit } from './emit.ts'

type Of<K extends Command['kind']> = Extract<Command, { kind: K }>

/** The time of a change also tells changes apart, so it always grows. */
export function decideSecretSet(
  state: State,
  { owner, name, bytes, sealed }: Of<'setSecret'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['setSecret'] {
  const known = state.secrets.get(secretKey(owner, name))
  const at = Math.max(now.wall, (known?.changedAt ?? 0) + 1)
  const createdAt = known?.createdAt ?? at
  emit.change({ c: 'secretSet', owner, name, bytes, at })
  emit.rows([{ op: 'put', table: 'secret', row: { owner, name, bytes, sealed, createdAt, changedAt: at } }])
  return { createdAt, changedAt: at }
}

export function decideSecretRemoved(
  state: State,
  { owner, name }: Of<'removeSecret'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['removeSecret'] {
  knownSecret(state, owner, name)
  emit.change({ c: 'secretRemoved', owner, name, at: now.wall })
  return null
}

export function decideReseal(
  state: State,
  { owner, name, changedAt, sealed }: Of<'resealSecret'>,
  _facts: Facts,
  _now: Now,
  emit: Emit,
): Replies['resealSecret'] {
  if (state.secrets.get(secretKey(owner, name))?.changedAt !== changedAt) return { resealed: false }
  emit.rows([{ op: 'update', table: 'secret', key: { owner, name }, set: { sealed } }])
  return { resealed: true }
}

/** A job that names a secret its owner does not have would only fail later. */
export function refuseUnknownSecrets(state: State, owner: string, jobs: readonly NewJob[]): void {
  if (jobs.every(({ spec }) => spec.secrets.length === 0)) return
  const errors = jobs.flatMap(({ spec }, index) =>
    spec.secrets.flatMap(({ name }, at) =>
      state.secrets.has(secretKey(owner, name))
        ? []
        : [
            {
              path: `${jobs.length === 1 ? '' : `jobs[${index}].`}secrets[${at}]`,
              message: `${owner} has no secret ${name}; set it with: stoker secret set ${name}`,
            },
          ],
    ),
  )
  const [first] = errors
  if (first !== undefined) throw new Refused('spec.invalid', `${first.path}: ${first.message}`, errors)
}

function knownSecret(state: State, owner: string, name: string): SecretState {
  const secret = state.secrets.get(secretKey(owner, name))
  if (secret === undefined) throw new Refused('secret.not_found', `${owner} has no secret ${name}`)
  return secret
}

import type { Role, TerminalState } from '@stoker/protocol'

export interface TokenState {
  readonly id: string
  readonly hash: string
  readonly role: Role
  readonly owner: string
  readonly label: string
  readonly createdAt: number
  readonly expiresAt: number | null
  usedBy: string | null
}

/** Where ends of an owner's jobs are told. */
export interface WebhookState {
  readonly id: string
  readonly owner: string
  readonly url: string
  readonly on: readonly TerminalState[]
  readonly labels: Readonly<Record<string, string>>
  readonly secret: string
  readonly createdAt: number
}

/** Everything about a secret but its value, which stays sealed in the store. */
export interface SecretState {
  readonly owner: string
  readonly name: string
  readonly bytes: number
  readonly createdAt: number
  readonly changedAt: number
}

/** Owners have no space in their names. */
export function secretKey(owner: string, name: string): string {
  return `${owner} ${name}`
}

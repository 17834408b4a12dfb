import { sha256 } from '@stoker/files'
import { type Hardware, normalRequirements } from '@stoker/protocol'

export type Python = Hardware['pythons'][number]

/** The packages a program needs, and the interpreter they are for. */
export interface EnvironmentWish {
  /** As pip reads them. */
  readonly requirements: string
  readonly python: Python
}

const KEY_LENGTH = 20
const HASH_LENGTH = 16

/** Names an environment on this machine: another interpreter or platform needs other files. */
export function environmentKey({ requirements, python }: EnvironmentWish): string {
  const { version, prefix } = python
  const facts = [normalRequirements(requirements), version, prefix, process.platform, process.arch]
  return sha256(JSON.stringify(facts)).slice(0, KEY_LENGTH)
}

/** The interpreter a program asks for, such as "3.11"; null when this machine has none like it. */
export function choosePython(pythons: readonly Python[], asked: string | null): Python | null {
  if (asked === null) return pythons[0] ?? null
  return pythons.find(({ version }) => version === asked || version.startsWith(`${asked}.`)) ?? null
}

/** Names the packages alone: what hubs and workers call equal requirements. */
export function requirementsHash(requirements: string): string {
  return sha256(normalRequirements(requirements)).slice(0, HASH_LENGTH)
}

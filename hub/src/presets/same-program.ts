import type { JobSpec } from '@stoker/protocol'

/** What only a preset says. */
const FIXED = ['type', 'command', 'container', 'model', 'isolation', 'network'] as const
/** What whoever starts a session may say otherwise than the preset. */
const FREE = ['env', 'input', 'resources', 'placement', 'session', 'retries'] as const

/** Whether a session runs what its preset says now; one that somebody started may differ in what is free. */
export function isSameProgram(running: JobSpec, now: JobSpec, isExact: boolean): boolean {
  const keys = isExact ? [...FIXED, ...FREE] : FIXED
  return keys.every(key => textOf(running[key]) === textOf(now[key]))
}

/** Alike whatever the order of keys. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, one) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}

import type { OwnerLimits } from '../api/owners.ts'
import type { FireOutcome, Schedule } from '../api/schedules.ts'
import type { Role } from '../api/tokens.ts'

export interface TokenRow {
  readonly id: string
  readonly hash: string
  readonly role: Role
  readonly owner: string
  readonly label: string
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly usedBy: string | null
}

export interface OwnerLimitsRow extends OwnerLimits {
  readonly owner: string
}

/** What an owner had of the fleet lately: the average of its dominant share, where an hour ago counts half as much as now. */
export interface OwnerUseRow {
  readonly owner: string
  readonly average: number
  readonly at: number
}

export interface ScheduleRow {
  readonly id: string
  readonly owner: string
  readonly name: string
  readonly cron: string
  readonly timezone: string
  readonly overlap: Schedule['overlap']
  readonly catchUp: Schedule['catchUp']
  readonly enabled: number
  readonly spec: string
  readonly createdAt: number
  readonly nextAt: number | null
  readonly runs: number
  readonly lastAt: number | null
  readonly lastOutcome: FireOutcome | null
  readonly lastReason: string | null
  readonly lastSeq: number | null
  readonly lastJob: string | null
  readonly lastGroup: string | null
}

export interface WebhookRow {
  readonly id: string
  readonly owner: string
  readonly url: string
  readonly on: string
  readonly labels: string
  readonly secret: string
  readonly createdAt: number
}

/** The end of a job that is, or was, to be told to a webhook. */
export interface DeliveryRow {
  readonly webhook: string
  readonly job: number
  readonly state: 'pending' | 'delivered' | 'failed'
  readonly tries: number
  readonly dueAt: number | null
  readonly createdAt: number
  readonly endedAt: number | null
  readonly status: number | null
  readonly error: string | null
}

/** `sealed` is the encrypted value, with the id of the key it was sealed with. */
export interface SecretRow {
  readonly owner: string
  readonly name: string
  readonly bytes: number
  readonly sealed: string
  readonly createdAt: number
  readonly changedAt: number
}

export interface AuditRow {
  readonly id: string
  readonly at: number
  readonly token: string
  readonly label: string
  readonly owner: string
  readonly role: string
  readonly address: string
  readonly action: string
  readonly target: string
  readonly details: string
  readonly status: number | null
}

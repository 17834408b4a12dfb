export interface WorkerRow {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly owner: string
  readonly tags: string
  readonly maxJobs: number
  readonly window: number
  readonly cpusMilli: number
  readonly memoryMb: number
  readonly hardware: string
  readonly abilities: string
  readonly secretHash: string
  readonly bootId: string
  readonly registeredAt: number
  readonly draining: number
  readonly batch: number
  /** Null: our own. */
  readonly dialect: string | null
  readonly gatewayNote: string | null
}

/** A device that is kept from all jobs. */
export interface DeviceRow {
  readonly uuid: string
  readonly reason: string
  readonly quarantinedBy: string
  readonly quarantinedAt: number
}

export interface MetaRow {
  readonly key: string
  readonly value: string
}

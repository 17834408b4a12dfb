/** Where a piece of output lies; `line` counts the newlines of its stream before it. */
export interface ChunkRow {
  readonly job: number
  readonly epoch: number
  readonly attempt: number
  readonly stream: number
  readonly offset: number
  readonly length: number
  readonly segment: number
  readonly position: number
  readonly at: number
  readonly line: number
}

/** Where a finished attempt's whole output lies, compressed. */
export interface SealedRow {
  readonly job: number
  readonly epoch: number
  readonly attempt: number
  readonly pack: number
  readonly position: number
  readonly length: number
}

/** Content an owner has, whole and synced; `usedAt` is when someone last stored it or built on it. */
export interface BlobRow {
  readonly owner: string
  readonly sha256: string
  readonly size: number
  readonly at: number
  readonly usedAt: number
}

/** Content a job's spec names; the row goes when the job has ended and its content may be forgotten. */
export interface InputRow {
  readonly job: number
  readonly sha256: string
  readonly owner: string
}

/** A file an attempt left. */
export interface ArtifactRow {
  readonly job: number
  readonly attempt: number
  readonly path: string
  readonly owner: string
  readonly sha256: string
  readonly size: number
  readonly executable: number
}

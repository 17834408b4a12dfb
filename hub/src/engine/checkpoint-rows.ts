import { CHECKPOINT_ATTEMPT, type Checkpoint, checkpointPath, type RowWrite, type Shape } from '@stoker/protocol'

/** The newest checkpoint of a job takes the place of the one before. */
export function checkpointRows(job: number, attempt: number, owner: string, checkpoint: Checkpoint): RowWrite[] {
  const files = checkpoint.files.map(
    ({ path, sha256, size }): RowWrite => ({
      op: 'put',
      table: 'artifact',
      row: {
        ...{ job, attempt: CHECKPOINT_ATTEMPT, path: checkpointPath(attempt, checkpoint, path) },
        ...{ owner, sha256, size, executable: 0 },
      },
    }),
  )
  return [noCheckpoint(job), ...files]
}

/** Nobody goes on with a job that succeeded; only programs can have left a checkpoint. */
export function withoutCheckpoint(job: number, next: string, executor: Shape['executor'] | undefined): RowWrite[] {
  return next === 'succeeded' && executor !== 'inline' && executor !== 'task' ? [noCheckpoint(job)] : []
}

function noCheckpoint(job: number): RowWrite {
  return { op: 'delete', table: 'artifact', key: { job, attempt: CHECKPOINT_ATTEMPT } }
}

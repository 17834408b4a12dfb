import { CHECKPOINT_ATTEMPT, type Checkpoint, checkpointPath, type RowWrite } from '@stoker/protocol'

/** The newest checkpoint of a job takes the place of the one before. */
export function checkpointRows(job: number, attempt: number, owner: string, checkpoint: Checkpoint): RowWrite[] {
  return checkpoint.files.map(({ path, sha256, size }) => ({
    op: 'put',
    table: 'artifact',
    row: {
      ...{ job, attempt: CHECKPOINT_ATTEMPT, path: checkpointPath(attempt, checkpoint, path) },
      ...{ owner, sha256, size, executable: 0 },
    },
  }))
}

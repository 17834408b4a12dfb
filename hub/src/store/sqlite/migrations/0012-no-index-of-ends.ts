/** It cost every new job more than all who asked by the end of an id could gain. */
export const NO_INDEX_OF_ENDS_0012: readonly string[] = ['DROP INDEX job_id_end']

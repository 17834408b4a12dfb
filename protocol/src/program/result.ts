/** A result travels in a report; larger ones belong into a file. */
export const MAX_RESULT_BYTES = 256 * 1024

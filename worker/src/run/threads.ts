/** What libraries that compute with many threads look at before they count the machine's processors. */
const NAMES = [
  'OMP_NUM_THREADS',
  'MKL_NUM_THREADS',
  'OPENBLAS_NUM_THREADS',
  'NUMEXPR_NUM_THREADS',
  'RAYON_NUM_THREADS',
] as const

/**
 * As many threads as the job has processors, shared by its ranks: more of them only wait for each other.
 * A job that names one of the variables knows better, and gets none of them.
 */
export function threadEnv(
  cpus: number,
  ranks: number,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (NAMES.some(name => given[name] !== undefined)) return {}
  const threads = String(Math.max(1, Math.floor(Math.ceil(cpus) / ranks)))
  return Object.fromEntries(NAMES.map(name => [name, threads]))
}

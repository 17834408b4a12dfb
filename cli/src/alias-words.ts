import type { Io } from './io.ts'

const QUBIX_BACKEND = 'http://127.0.0.1:3001'
const TRAINFORGE_SCHEDULER = 'http://localhost:3000'
const TRAINFORGE_JOBS = '4'

/** `qubix-worker …` as words of `stoker`: the same flags, the same defaults. */
export function qubixWords(argv: readonly string[]): readonly string[] {
  return ['worker', ...(has(argv, '--backend') ? [] : ['--backend', QUBIX_BACKEND]), ...argv]
}

/** `trainforge-worker …` as words of `stoker`; without any, a person at a terminal is asked. */
export async function trainforgeWords(argv: readonly string[], { ask }: Pick<Io, 'ask'>): Promise<readonly string[]> {
  const given = argv.length === 0 ? await askForWords(ask) : argv
  return ['worker', ...(has(given, '--scheduler') ? [] : ['--scheduler', TRAINFORGE_SCHEDULER]), ...given]
}

async function askForWords(ask: Io['ask']): Promise<readonly string[]> {
  const usual = await ask(`Use the defaults (${TRAINFORGE_SCHEDULER}, ${TRAINFORGE_JOBS} jobs at once)? [Y/n] `)
  if (usual === null || !/^\s*n/i.test(usual)) return []
  const url = (await ask(`Scheduler URL [${TRAINFORGE_SCHEDULER}]: `))?.trim()
  const jobs = (await ask(`Jobs at once [${TRAINFORGE_JOBS}]: `))?.trim()
  return ['--scheduler', url || TRAINFORGE_SCHEDULER, '--max-jobs', jobs || TRAINFORGE_JOBS]
}

function has(argv: readonly string[], option: string): boolean {
  return argv.some(word => word === option || word.startsWith(`${option}=`))
}

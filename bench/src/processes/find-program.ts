import { accessSync, constants, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Debian keeps the programs of PostgreSQL outside the PATH, one folder per version. */
const POSTGRES_ROOT = '/usr/lib/postgresql'
/** Daemons live here, and the PATH of a plain user does not say so. */
const DAEMONS = '/usr/sbin'

/** The full path of a program, or null where the machine has none. */
export function findProgram(name: string, path: string): string | null {
  return findPrograms(name, path)[0] ?? null
}

/** All programs of that name, those of the PATH first. */
export function findPrograms(name: string, path: string): string[] {
  const folders = [...path.split(':').filter(folder => folder !== ''), DAEMONS, ...postgresFolders()]
  return folders.map(folder => join(folder, name)).filter(isExecutable)
}

function postgresFolders(): string[] {
  try {
    return readdirSync(POSTGRES_ROOT).map(version => join(POSTGRES_ROOT, version, 'bin'))
  } catch {
    return []
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

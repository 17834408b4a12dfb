import { accessSync, constants, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Debian keeps the programs of PostgreSQL outside the PATH, one folder per version. */
const POSTGRES_ROOT = '/usr/lib/postgresql'

/** The full path of a program, or null where the machine has none. */
export function findProgram(name: string, path: string): string | null {
  const folders = [...path.split(':').filter(folder => folder !== ''), ...postgresFolders()]
  return folders.map(folder => join(folder, name)).find(isExecutable) ?? null
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

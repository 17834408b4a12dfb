const NAMES: ReadonlySet<string> = new Set([
  '.git',
  '__pycache__',
  '.DS_Store',
  'node_modules',
  '.env',
  'venv',
  '.venv',
  'stoker-outputs',
])

/** What is never part of a project, by the whole name of a file or folder: what is made again, and what is secret. */
export function isLeftOut(name: string): boolean {
  return NAMES.has(name) || name.endsWith('.pyc')
}

import { chmod, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Sandboxes of a root worker run as users of their own, and an installer with a strict umask may have closed the programs to them. */
export async function shareTree(path: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  const found = await lstat(path).catch(() => null)
  if (found === null || found.isSymbolicLink()) return
  const wanted = found.isDirectory() ? 0o555 : 0o444
  // One that cannot be changed is missed by its program, which says so.
  if ((found.mode & wanted) !== wanted) await chmod(path, (found.mode & 0o7777) | wanted).catch(() => {})
  if (found.isDirectory()) for (const name of await readdir(path)) await shareTree(join(path, name))
}

import { lchown, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Makes everything below the worker's own, whoever made it in a sandbox, and tells how much room it takes. Links are not followed. */
export async function ownTree(root: string): Promise<number> {
  const [uid, gid] = [process.getuid?.() ?? -1, process.getgid?.() ?? -1]
  const waiting = [root]
  let bytes = 0
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const found = await lstat(path)
    bytes += found.blocks * 512
    if (uid === 0 && (found.uid !== uid || found.gid !== gid)) await lchown(path, uid, gid)
    if (found.isDirectory()) for (const name of await readdir(path)) waiting.push(join(path, name))
  }
  return bytes
}

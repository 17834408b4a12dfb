import { closeSync, existsSync, ftruncateSync, openSync, readFileSync } from 'node:fs'

/** The lines of a file that is only appended to. One that the writer's death cut off was not acted on: it is removed. */
export function wholeLines(path: string): string[] {
  if (!existsSync(path)) return []
  const text = readFileSync(path, 'utf8')
  const end = text.lastIndexOf('\n') + 1
  if (end < text.length) {
    const fd = openSync(path, 'r+')
    ftruncateSync(fd, Buffer.byteLength(text.slice(0, end)))
    closeSync(fd)
  }
  return text
    .slice(0, end)
    .split('\n')
    .filter(line => line !== '')
}

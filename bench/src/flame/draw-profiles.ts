import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { flameSvg } from './flame-svg.ts'
import { type Flame, readCpuProfile, readHeapProfile } from './read-profile.ts'

/** What V8 calls the files it writes when a thread ends: kind, day, time, process, thread. */
const PROFILE = /^(?<kind>CPU|Heap)\.\d+\.\d+\.(?<pid>\d+)\.(?<thread>\d+)\..*profile$/
const READERS: Readonly<Record<string, (text: string) => Flame>> = { CPU: readCpuProfile, Heap: readHeapProfile }

/** A flame graph beside each profile below a folder; returns the pictures. Some measures start nothing that could be profiled. */
export async function drawProfiles(folder: string): Promise<readonly string[]> {
  const pictures: string[] = []
  await mkdir(folder, { recursive: true })
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const { kind = '', pid, thread } = PROFILE.exec(entry.name)?.groups ?? {}
    const read = READERS[kind]
    if (read === undefined) continue
    const file = join(entry.parentPath, entry.name)
    const who = thread === '0' ? 'main thread' : `thread ${thread}`
    const picture = `${file}.svg`
    const program = relative(folder, entry.parentPath)
    await writeFile(picture, flameSvg(`${program} (process ${pid}, ${who})`, read(await readFile(file, 'utf8'))))
    pictures.push(picture)
  }
  return pictures.sort()
}

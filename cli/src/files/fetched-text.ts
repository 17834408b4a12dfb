import { formatSize } from '@stoker/protocol'
import { plainText } from '../output/plain-text.ts'
import type { OutputOf } from '../output/schemas.ts'

/** What was fetched in one line, and a line for each file that had to go beside another. */
export function fetchedText({ folder, files }: OutputOf<'artifacts get'>): string {
  const size = formatSize(files.reduce((sum, file) => sum + file.size, 0))
  const beside = files
    .filter(({ how }) => how === 'beside')
    .map(({ path, file }) => `${plainText(path)} was changed here, so the job's is in ${plainText(file)}`)
  return [...beside, `${files.length} ${files.length === 1 ? 'file' : 'files'}, ${size}, in ${folder}`].join('\n')
}

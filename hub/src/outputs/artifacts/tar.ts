import { TAR_END, type TarFacts, tarFilling, tarHeader } from '@stoker/files'
import type { BlobKey } from './port.ts'

/** A file of an archive; `at` is in milliseconds. */
export interface TarFile extends BlobKey, Pick<TarFacts, 'path' | 'size' | 'executable' | 'at'> {}

/** The whole archive in bytes, known before any of it is read. */
export function tarSize(files: readonly TarFile[]): number {
  const bytes = files.reduce((sum, file) => sum + headOf(file).length + file.size + tarFilling(file.size).length, 0)
  return bytes + TAR_END.length
}

/** A POSIX archive, one file at a time: its memory does not depend on its size. Whoever stops reading closes the file at hand. */
export async function* tarOf<File extends TarFile>(
  files: readonly File[],
  read: (file: File) => Promise<AsyncIterable<Uint8Array>>,
): AsyncGenerator<Uint8Array, void> {
  for (const file of files) {
    yield headOf(file)
    if (file.size > 0) yield* await read(file)
    if (tarFilling(file.size).length > 0) yield tarFilling(file.size)
  }
  yield TAR_END
}

function headOf({ path, size, executable, at }: TarFile): Buffer {
  return tarHeader({ path, kind: 'file', size, executable, at })
}

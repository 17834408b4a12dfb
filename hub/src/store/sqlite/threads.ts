import { startThread, type Thread } from './thread.ts'
import type { ThreadRole, ThreadStart } from './thread-calls.ts'

/** The threads of one store, each started when first needed. */
export interface Threads {
  reader(): Thread<'reader'>
  writer(): Thread<'writer'>
  folder(): Thread<'folder'>
  /** Runs the work on a thread of its own that ends with it. */
  withCopier(work: (thread: Thread<'copier'>) => Promise<void>): Promise<void>
  close(): Promise<void>
}

export function createThreads(start: Omit<ThreadStart, 'role'>): Threads {
  const running = new Set<Thread<ThreadRole>>()
  let reader: Thread<'reader'> | null = null
  let writer: Thread<'writer'> | null = null
  let folder: Thread<'folder'> | null = null

  function begin<R extends ThreadRole>(role: R): Thread<R> {
    const thread = startThread({ ...start, role })
    running.add(thread)
    return thread
  }

  async function withCopier(work: (thread: Thread<'copier'>) => Promise<void>): Promise<void> {
    const thread = begin('copier')
    try {
      await work(thread)
    } finally {
      await thread.close()
      running.delete(thread)
    }
  }

  return {
    reader() {
      reader ??= begin('reader')
      return reader
    },
    writer() {
      writer ??= begin('writer')
      return writer
    },
    folder() {
      folder ??= begin('folder')
      return folder
    },
    withCopier,
    close: async () => {
      await Promise.all([...running].map(thread => thread.close()))
    },
  }
}

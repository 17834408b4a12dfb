import { type FileHandle, open } from 'node:fs/promises'
import { DiskFullOutputs } from '../port.ts'

/** The part of a file handle that appending needs; tests give one whose disk is full or broken. */
export type AppendFile = Pick<FileHandle, 'write' | 'datasync' | 'truncate' | 'close'>

/** Makes a file that must not exist yet. */
export type CreateFile = (path: string) => Promise<AppendFile>

export function createFile(path: string): Promise<AppendFile> {
  return open(path, 'wx')
}

/** Writes all bytes at a position; when there is no room for them, what did get written is cut off again. */
export async function writeAll(file: AppendFile, bytes: Uint8Array, position: number): Promise<void> {
  try {
    for (let done = 0; done < bytes.length; ) {
      done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten
    }
  } catch (error) {
    if (!isFull(error)) throw error
    await file.truncate(position)
    throw new DiskFullOutputs(error)
  }
}

export function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}

export function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

export { hasCode, unlessAbsent } from './absent.ts'
export { ArchiveRefused } from './archives/archive-refused.ts'
export type { LeavesOut } from './archives/list-folder.ts'
export { lookIntoZip, type ZipLook } from './archives/look-into-zip.ts'
export { mergeFolder } from './archives/merge-folder.ts'
export { type PackedFolder, packFolder } from './archives/pack-folder.ts'
export { packZip } from './archives/pack-zip.ts'
export { TAR_END, type TarFacts, tarFilling, tarHeader } from './archives/tar-parts.ts'
export { type ArchiveFormat, unpackArchive } from './archives/unpack-archive.ts'
export { type ZipPart, zipFolder, zipOf } from './archives/zip-of.ts'
export { atOnce } from './at-once.ts'
export { FileChanged, type FileContent, openFileContent } from './file-content.ts'
export { freeBytes } from './free-bytes.ts'
export { type FolderLock, FolderLocked, folderOwner, lockFolder } from './lock-folder.ts'
export {
  createLog,
  LOG_FORMATS,
  LOG_LEVELS,
  type Log,
  type LogFields,
  type LogFormat,
  type LogLevel,
  logChoice,
} from './log.ts'
export { type MatchedOutputs, matchOutputs, pickOutputs } from './match-outputs.ts'
export { packTar, type TarEntry } from './pack-tar.ts'
export { onParentGone } from './parent-gone.ts'
export { bootId, processStart } from './process-identity.ts'
export { readJsonOr } from './read-json.ts'
export { removeTree } from './remove-tree.ts'
export { safeName } from './safe-name.ts'
export { sha256, sha256File, sha256Stream } from './sha256.ts'
export { untilClosed } from './until-closed.ts'
export { syncFolder, writeAtomic } from './write-atomic.ts'

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFile, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { openFileContent } from './file-content.ts'
import { sha256, sha256Stream } from './sha256.ts'
import { useTestFolder } from './test-folder.ts'

const folder = useTestFolder()
const path = () => join(folder(), 'file')

it('is hashed when it is opened, and read in ranges', async () => {
  await writeFile(path(), 'abcdef', { mode: 0o755 })
  const content = await openFileContent(path())
  expect(content).toMatchObject({ sha256: sha256('abcdef'), size: 6, executable: true })
  expect(await sha256Stream(content.read(2, 4))).toBe(sha256('cd'))
  await content.close()
})

it('that changes afterwards is not read as if it had not', async () => {
  await writeFile(path(), 'abc')
  const content = await openFileContent(path(), { name: 'out/x' })
  await appendFile(path(), 'd')
  await expect(sha256Stream(content.read(0, 3))).rejects.toThrow('"out/x" changed while it was being read')
  await content.close()
})

it('is neither a link nor a pipe', async () => {
  await symlink('/etc/passwd', path())
  await expect(openFileContent(path())).rejects.toThrow(/ELOOP/)
  await promisify(execFile)('mkfifo', [join(folder(), 'pipe')])
  await expect(openFileContent(join(folder(), 'pipe'))).rejects.toThrow(/should be a file/)
})

it('of many parts is read whole and in order, and stops where it was cut meanwhile', async () => {
  const bytes = randomBytes(3_000_001)
  await writeFile(path(), bytes)
  const content = await openFileContent(path())
  expect(content.sha256).toBe(sha256(bytes))
  expect(await sha256Stream(content.read(300_000, 3_000_001))).toBe(sha256(bytes.subarray(300_000)))
  await truncate(path(), 1_600_000)
  await expect(sha256Stream(content.read(0, 3_000_001))).rejects.toThrow('changed while it was being read')
  await content.close()
})

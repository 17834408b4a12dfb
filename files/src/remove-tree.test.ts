import { execFileSync } from 'node:child_process'
import { access, chmod, link, lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { removeTree } from './remove-tree.ts'
import { useTestFolder } from './test-folder.ts'
import { compileProgram, runProgram } from './test-program.ts'

const NOBODY = 65534
const isRoot = process.getuid?.() === 0
const folder = useTestFolder()

test('files, folders and dead links go; a missing path is no error', async () => {
  const tree = join(folder(), 'tree')
  await mkdir(join(tree, 'a/b/c'), { recursive: true })
  await writeFile(join(tree, 'a/file'), '')
  await symlink('/nowhere', join(tree, 'a/dead'))
  await removeTree(tree)
  await removeTree(tree)
  await expect(lstat(tree)).rejects.toThrow('ENOENT')
})

test('what links point at stays, also when the path itself is a link with a slash behind', async () => {
  const [outside, tree] = [join(folder(), 'outside'), join(folder(), 'tree')]
  await mkdir(outside)
  await writeFile(join(outside, 'kept'), 'kept')
  await mkdir(tree)
  await symlink(outside, join(tree, 'to-folder'))
  await symlink(join(outside, 'kept'), join(tree, 'to-file'))
  await link(join(outside, 'kept'), join(tree, 'hard'))
  await removeTree(tree)
  await symlink(outside, tree)
  await removeTree(`${tree}/`)
  await expect(lstat(tree)).rejects.toThrow('ENOENT')
  expect(await readFile(join(outside, 'kept'), 'utf8')).toBe('kept')
})

test('an ordinary user removes own folders closed with mode 000, and opens nothing behind a link', async () => {
  const [outside, tree] = [join(folder(), 'outside'), join(folder(), 'tree')]
  await mkdir(outside, { mode: 0o500 })
  await mkdir(join(tree, 'closed/inner'), { recursive: true })
  await symlink(outside, join(tree, 'link'))
  await writeFile(join(tree, 'closed/inner/file'), '')
  const program = await compileProgram(
    folder(),
    `import { removeTree } from './remove-tree.ts'; await removeTree(process.argv[2] ?? '')`,
  )
  await chmod(join(tree, 'closed/inner'), 0o000)
  await chmod(join(tree, 'closed'), 0o000)
  if (isRoot) execFileSync('chown', ['-R', '-h', String(NOBODY), folder()])
  const run = runProgram(program, [tree], isRoot ? { uid: NOBODY } : {})
  expect(await run.ended).toMatchObject({ code: 0 })
  await expect(lstat(tree)).rejects.toThrow('ENOENT')
  expect((await lstat(outside)).mode & 0o777).toBe(0o500)
})

test('a tree deeper than any path can name is removed', async () => {
  const tree = join(folder(), 'tree')
  await mkdir(tree)
  const name = 'd'.repeat(200)
  execFileSync('sh', ['-c', `for i in $(seq 60); do mkdir ${name} && cd -P ${name} || exit 1; done`], { cwd: tree })
  await expect(rm(tree, { recursive: true })).rejects.toThrow()
  await removeTree(tree)
  await expect(access(tree)).rejects.toThrow('ENOENT')
})

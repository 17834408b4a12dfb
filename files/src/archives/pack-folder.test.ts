import { execFile } from 'node:child_process'
import { chmod, cp, link, mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { sha256File } from '../sha256.ts'
import { useTestFolder } from '../test-folder.ts'
import { packFolder } from './pack-folder.ts'
import { unpackArchive } from './unpack-archive.ts'

const folder = useTestFolder()

async function write(files: Readonly<Record<string, string>>, root = 'src'): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder(), root, path)), { recursive: true })
    await writeFile(join(folder(), root, path), text)
  }
  return join(folder(), root)
}

it('gives equal folders equal bytes, whatever their times, owners, links and order of creation', async () => {
  const a = await write({ 'b/x': '1', 'a.txt': '2', run: 'sh', 'b.c': '3' }, 'one')
  const b = await write({ 'b.c': '3', run: 'sh', 'a.txt': '2' }, 'two')
  await mkdir(join(b, 'b'))
  await link(join(b, 'a.txt'), join(folder(), 'elsewhere'))
  await cp(join(a, 'b/x'), join(b, 'b/x'))
  for (const root of [a, b]) await chmod(join(root, 'run'), root === a ? 0o755 : 0o700)
  await utimes(join(b, 'a.txt'), 1000, 1000)
  const first = await packFolder(a, join(folder(), 'a.tar'))
  const second = await packFolder(b, join(folder(), 'b.tar'))
  expect(second).toEqual(first)
  expect(first.sha256).toBe(await sha256File(join(folder(), 'a.tar')))
  expect([...first.files.keys()]).toEqual(['a.txt', 'b.c', 'b/x', 'run'])
  await writeFile(join(b, 'a.txt'), '9')
  expect((await packFolder(b, join(folder(), 'c.tar'))).sha256).not.toBe(first.sha256)
})

it('comes back as it was through our own unpacking and through the system tar, with long and odd names', async () => {
  const odd = `ü x/${'long-'.repeat(40)}.txt`
  const root = await write({ [odd]: 'odd', 'sub/y': 'y'.repeat(100_000) })
  await mkdir(join(root, 'empty'))
  await symlink('../sub/y', join(root, 'empty', 'to-y'))
  await packFolder(root, join(folder(), 'a.tar'))
  await unpackArchive(join(folder(), 'a.tar'), 'tar', join(folder(), 'ours'))
  await mkdir(join(folder(), 'theirs'))
  await promisify(execFile)('tar', ['-xf', 'a.tar', '-C', 'theirs'], { cwd: folder() })
  for (const name of ['ours', 'theirs']) {
    expect(await readFile(join(folder(), name, odd), 'utf8')).toBe('odd')
    expect((await readFile(join(folder(), name, 'empty/to-y'))).length).toBe(100_000)
  }
})

it('leaves out .git and what ignore files of any level name, the inner ones having the last word', async () => {
  const root = await write({
    '.gitignore': '*.log\n/build/\n',
    '.stokerignore': 'data/huge\n',
    '.git/config': '',
    'a.log': '',
    'keep/.gitignore': '!b.log\nown\n',
    'keep/b.log': '',
    'keep/own': '',
    'build/x': '',
    'sub/build/x': '',
    'data/huge/x': '',
    'data/small': '',
  })
  const { files } = await packFolder(root, join(folder(), 'a.tar'))
  expect([...files.keys()]).toEqual([
    '.gitignore',
    '.stokerignore',
    'data/small',
    'keep/.gitignore',
    'keep/b.log',
    'sub/build/x',
  ])
})

it('refuses links that lead out and what is no file, by name', async () => {
  const root = await write({ 'a/x': '' })
  await symlink('../../x', join(root, 'a', 'out'))
  await expect(packFolder(root, join(folder(), 'a.tar'))).rejects.toThrow(/"a\/out" links to "\.\.\/\.\.\/x"/)
  await writeFile(join(root, '.stokerignore'), 'out')
  await promisify(execFile)('mkfifo', [join(root, 'pipe')])
  await expect(packFolder(root, join(folder(), 'a.tar'))).rejects.toThrow(/"pipe" is a named pipe/)
  expect(await readdir(folder())).toEqual(['src'])
})

it('leaves out by name, at whole parts of a path only', async () => {
  const root = await write({ 'venv/x': '1', 'sub/venv/y': '2', 'venv2/z': '3', 'my.venv': '4' })
  const { files } = await packFolder(root, join(folder(), 'a.tar'), name => name === 'venv')
  expect([...files.keys()]).toEqual(['my.venv', 'venv2/z'])
})

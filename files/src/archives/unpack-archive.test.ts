import { execFile } from 'node:child_process'
import { lstat, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { useTestFolder } from '../test-folder.ts'
import { type TarEntry, tarBytes, writeTar, writeZip, type ZipEntry } from './test-archives.ts'
import { unpackArchive } from './unpack-archive.ts'
import type { UnpackLimits } from './unpacking.ts'

const folder = useTestFolder()

async function untar(entries: readonly TarEntry[], limits: Partial<UnpackLimits> = {}): Promise<string> {
  const into = join(folder(), 'into')
  await unpackArchive(await writeTar(join(folder(), 'a.tar'), entries), 'tar', into, limits)
  return into
}

async function unzip(entries: readonly ZipEntry[], limits: Partial<UnpackLimits> = {}): Promise<string> {
  const into = join(folder(), 'into')
  await unpackArchive(await writeZip(join(folder(), 'a.zip'), entries), 'zip', into, limits)
  return into
}

/** Refused with these words, and nothing of it is left, inside or outside. */
async function expectRefused(work: Promise<unknown>, words: RegExp, archive = 'a.tar'): Promise<void> {
  await expect(work).rejects.toThrow(words)
  expect(await readdir(folder())).toEqual([archive])
}

describe('an honest archive', () => {
  it('becomes its files, folders and links, executable or not and never setuid', async () => {
    const into = await untar([
      { path: './', type: 'Directory', mode: 0o755 },
      { path: './bin/tool', mode: 0o6755, body: 'run' },
      { path: './data/', type: 'Directory' },
      { path: './data/x.txt', mode: 0o600, body: 'x'.repeat(2000) },
      { path: './data/link', type: 'SymbolicLink', linkpath: '../bin/tool' },
      { path: './data/same', type: 'Link', linkpath: './data/x.txt' },
    ])
    expect(await readFile(join(into, 'data/x.txt'), 'utf8')).toBe('x'.repeat(2000))
    expect(await readFile(join(into, 'data/same'), 'utf8')).toBe('x'.repeat(2000))
    expect(await readlink(join(into, 'data/link'))).toBe('../bin/tool')
    expect((await lstat(join(into, 'bin/tool'))).mode & 0o7777).toBe(0o755)
    expect((await lstat(join(into, 'data/x.txt'))).mode & 0o7777).toBe(0o644)
  })

  it('of the system tar is understood, gzipped and with names longer than a header', async () => {
    const long = `${'deep/'.repeat(30)}${'n'.repeat(120)}.txt`
    await mkdir(join(folder(), 'src', long, '..'), { recursive: true })
    await writeFile(join(folder(), 'src', long), 'far down')
    await promisify(execFile)('tar', ['-czf', 'a.tgz', '-C', 'src', '.'], { cwd: folder() })
    await unpackArchive(join(folder(), 'a.tgz'), 'tar.gz', join(folder(), 'into'))
    expect(await readFile(join(folder(), 'into', long), 'utf8')).toBe('far down')
  })

  it('may be a zip, with links and executables', async () => {
    const into = await unzip([
      { name: 'a/x.sh', body: 'echo', mode: 0o104755 },
      { name: 'a/l', body: 'x.sh', mode: 0o120777 },
    ])
    expect(await readFile(join(into, 'a/l'), 'utf8')).toBe('echo')
    expect((await lstat(join(into, 'a/x.sh'))).mode & 0o7777).toBe(0o755)
  })
})

describe('a hostile tar', () => {
  const link = (path: string, linkpath: string): TarEntry => ({ path, type: 'SymbolicLink', linkpath })
  it.each<[string, readonly TarEntry[], RegExp]>([
    ['a path with ..', [{ path: 'ok' }, { path: 'a/../../evil' }], /"a\/\.\.\/\.\.\/evil".*leads outside/],
    ['an absolute path', [{ path: '/etc/evil' }], /"\/etc\/evil".*absolute/],
    ['a backslash', [{ path: '..\\evil' }], /backslash/],
    ['a link to an absolute place', [link('l', '/etc')], /"l".*"\/etc" could lead outside/],
    ['a link that climbs out', [link('a/l', '../../x')], /could lead outside/],
    ['a link that climbs out through another', [link('x/y/up', '../..'), link('m', 'x/y/up/..')], /"m".*could lead/],
    ['a file written through a link', [link('d', 'e'), { path: 'd/evil' }], /"d\/evil".*place is taken/],
    ['a folder over a link', [link('d', '.'), { path: 'd/', type: 'Directory' }], /"d\/".*place is taken/],
    ['a hard link to the outside', [{ path: 'h', type: 'Link', linkpath: '/etc/passwd' }], /absolute/],
    ['a hard link to a link', [link('l', 'x'), { path: 'h', type: 'Link', linkpath: 'l' }], /no file unpacked before/],
    ['a device', [{ path: 'dev', type: 'CharacterDevice', devmaj: 1, devmin: 3 }], /"dev".*device/],
    ['a named pipe', [{ path: 'p', type: 'FIFO' }], /"p".*named pipe/],
    [
      'the same name twice',
      [
        { path: 'a', body: '1' },
        { path: './a', body: '2' },
      ],
      /"\.\/a".*place is taken/,
    ],
    ['a file where a folder is', [{ path: 'a/b' }, { path: 'a' }], /"a".*place is taken/],
    ['a file below a file', [{ path: 'a' }, { path: 'a/b' }], /"a\/b".*place is taken/],
    ['an entry that is the folder itself', [{ path: '.' }], /no name of its own/],
  ])('with %s is refused by name', async (_, entries, words) => {
    await expectRefused(untar(entries), words)
  })

  it.each<[string, Partial<UnpackLimits>, RegExp]>([
    ['bytes', { maxBytes: 5999 }, /"b".*more than 5999 bytes/],
    ['entries', { maxEntries: 1 }, /"b".*more than 1 entries/],
    ['bytes in its names', { maxNameBytes: 0 }, /"a".*at most 0/],
  ])('with too many %s is refused with the limit', async (_, limits, words) => {
    const entries = ['a', 'b'].map(path => ({ path, body: 'x'.repeat(3000) }))
    await expectRefused(untar(entries, limits), words)
  })

  it('that is a bomb is refused by its ratio', async () => {
    const archive = await writeTar(join(folder(), 'a.tar'), [{ path: 'zeros', body: Buffer.alloc(3e6) }], true)
    const limits = { maxRatio: 50, ratioFromBytes: 1e6 }
    await expectRefused(unpackArchive(archive, 'tar.gz', join(folder(), 'into'), limits), /more than 50 times/)
  })

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['cut in the middle', bytes => bytes.subarray(0, 700)],
    ['damaged in a header', bytes => Buffer.concat([Buffer.from('zzz'), bytes.subarray(3)])],
    ['no tar at all', () => Buffer.from('hello, this is text '.repeat(100))],
  ])('that is %s is refused', async (_, damage) => {
    await writeFile(join(folder(), 'a.tar'), damage(tarBytes([{ path: 'a', body: 'x'.repeat(3000) }])))
    await expectRefused(unpackArchive(join(folder(), 'a.tar'), 'tar', join(folder(), 'into')), /damaged or no tar/)
  })
})

describe('a hostile zip', () => {
  it.each<[string, readonly ZipEntry[], RegExp]>([
    ['a path with ..', [{ name: '../evil' }], /\.\.\/evil/],
    ['an absolute path', [{ name: '/etc/evil' }], /\/etc\/evil/],
    ['a link to the outside', [{ name: 'll', body: '/etc', mode: 0o120777 }], /"ll".*could lead outside/],
    ['a file through a link', [{ name: 'dd', body: 'e', mode: 0o120777 }, { name: 'dd/x' }], /"dd\/x".*place is taken/],
    ['a pipe', [{ name: 'pp', mode: 0o010644 }], /"pp".*device, pipe or socket/],
    ['one name twice', [{ name: 'aa' }, { name: 'aa' }], /"aa".*place is taken/],
  ])('with %s is refused by name', async (_, entries, words) => {
    await expectRefused(unzip(entries), words, 'a.zip')
  })

  it('that is a bomb is refused by its size and by its ratio', async () => {
    const zeros = [{ name: 'zeros', body: Buffer.alloc(3e6) }]
    await expectRefused(unzip(zeros, { maxBytes: 1e6 }), /more than 1000000 bytes/, 'a.zip')
    await expectRefused(unzip(zeros, { maxRatio: 50, ratioFromBytes: 1e6 }), /more than 50 times/, 'a.zip')
  })
})

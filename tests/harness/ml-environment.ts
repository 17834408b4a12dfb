import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, chmod, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const JOBS = join(import.meta.dirname, '..', '..', 'jobs')
/** PyTorch for a GPU has some gigabytes. */
const INSTALL_MS = 20 * 60_000
const INSTALL_BYTES = 64 * 2 ** 20

/** A Python with the packages of these programs, or the reason why there is none here. */
export type MlEnvironment = { readonly python: string } | { readonly reason: string }

/** Made once for equal requirements and kept in the user's cache; STOKER_TEST_PYTHON_ML names one that is there. */
export async function mlEnvironment(programs: readonly string[]): Promise<MlEnvironment> {
  const given = process.env.STOKER_TEST_PYTHON_ML
  if (given !== undefined) return { python: given }
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'stoker', 'test-environments')
  try {
    const lines = await requirementsOf(programs)
    const home = join(folder, await keyOf(lines))
    if (!(await exists(home))) await build(folder, home, lines)
    return { python: pythonIn(home) }
  } catch (error) {
    return { reason: `no Python environment for ${programs.join(', ')}: ${reasonOf(error)}` }
  }
}

/** The folder of the packages for another Python of the same version, as one of an image; or why there is none. */
export type Packages = { readonly folder: string } | { readonly reason: string }

export async function packagesFor(environment: MlEnvironment, other: string): Promise<Packages> {
  if ('reason' in environment) return environment
  const ask = async (python: string) => {
    const script = 'import sys, sysconfig; print(*sys.version_info[:2]); print(sysconfig.get_path("purelib"))'
    const [version = '', folder = ''] = (await run(python, ['-c', script])).stdout.trim().split('\n')
    return { version, folder }
  }
  const [own, theirs] = [await ask(environment.python), await ask(other)]
  if (own.version === theirs.version) return { folder: own.folder }
  return { reason: `the packages are for Python ${own.version}, ${other} is Python ${theirs.version}` }
}

/** The words of a worker whose sandboxes see what this Python and our programs need: it, the one it was made with, the programs. */
export async function showing(python: string, ...more: readonly string[]): Promise<string[]> {
  const { stdout } = await run(python, ['-c', 'import sys; print(sys.prefix, sys.base_prefix, sep="\\n")'])
  return [...stdout.trim().split('\n'), JOBS, ...more].flatMap(path => ['--visible', path])
}

async function requirementsOf(programs: readonly string[]): Promise<string[]> {
  const files = await Promise.all(programs.map(name => readFile(join(JOBS, name, 'requirements.txt'), 'utf8')))
  const lines = files.flatMap(text => text.split('\n')).filter(line => line !== '' && !line.startsWith('#'))
  return [...new Set(lines)].sort()
}

async function keyOf(lines: readonly string[]): Promise<string> {
  const { stdout } = await run('python3', ['-c', 'import sys, platform; print(sys.version, platform.platform())'])
  return createHash('sha256')
    .update(stdout + lines.join('\n'))
    .digest('hex')
    .slice(0, 16)
}

/** Built beside and renamed: of two that build at once one wins, and a failed one leaves nothing. */
async function build(folder: string, home: string, lines: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  const part = await mkdtemp(join(folder, 'part-'))
  try {
    await chmod(part, 0o755)
    await run('python3', ['-m', 'venv', part])
    const install = ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', '--quiet', ...lines]
    await run(pythonIn(part), install, { timeout: INSTALL_MS, maxBuffer: INSTALL_BYTES })
    if (!(await exists(home))) await rename(part, home)
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

function pythonIn(home: string): string {
  return join(home, 'bin', 'python')
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Of pip's many lines the last one that says ERROR. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const lines = text.split('\n').filter(line => line.trim() !== '')
  return lines.findLast(line => line.startsWith('ERROR')) ?? lines[0] ?? 'unknown'
}

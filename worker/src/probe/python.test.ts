import { execFileSync } from 'node:child_process'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findPythons } from './python.ts'
import { stillRunning, useStandIns } from './test-stand-in.ts'

const standIns = useStandIns()
const SYSTEM = '/usr/bin/python3'
const hasSystemPython = await access(SYSTEM).then(
  () => true,
  () => false,
)

test('every interpreter found names a file that runs, itself and its version', async () => {
  for (const python of await findPythons()) {
    const said = execFileSync(python.path, ['-c', 'import sys, platform; print(platform.python_version(), sys.prefix)'])
    expect(said.toString().trim()).toBe(`${python.version} ${python.prefix}`)
  }
})

test('a stand-in shim is resolved to the interpreter it starts, told once', async () => {
  await standIns.write('python3', `exec ${SYSTEM} "$@"`)
  await standIns.write('python3.12', 'echo "pyenv: python3.12: command not found" >&2; exit 127')
  const pythons = await findPythons({ env: standIns.env() })
  expect(pythons.filter(python => python.path.startsWith(standIns.folder()))).toEqual([])
  expect(new Set(pythons.map(python => python.path)).size).toBe(pythons.length)
  expect(pythons.length > 0).toBe(hasSystemPython)
})

test.runIf(hasSystemPython)(
  'a virtual environment is another interpreter than the one it was made from (needs /usr/bin/python3)',
  async () => {
    const venv = join(standIns.folder(), 'venv')
    execFileSync(SYSTEM, ['-m', 'venv', '--without-pip', venv])
    const pythons = await findPythons({ env: { PATH: `${venv}/bin:/usr/bin:/bin` } })
    expect(pythons[0]).toMatchObject({ path: join(venv, 'bin/python3'), prefix: venv })
    expect(pythons.filter(python => python.prefix === venv)).toHaveLength(1)
    expect(pythons.length).toBeGreaterThan(1)
  },
)

test('a stand-in that hangs is ended and left out', async () => {
  await standIns.write('python3', `echo $$ > ${standIns.folder()}/pid\nexec sleep 1000`)
  const pythons = await findPythons({ env: { PATH: `${standIns.folder()}:/bin` }, timeoutMs: 2_000 })
  expect(pythons.every(python => python.path.startsWith('/'))).toBe(true)
  const pid = Number(await readFile(join(standIns.folder(), 'pid'), 'utf8'))
  await expect.poll(() => stillRunning([pid]), { timeout: 10_000 }).toEqual([])
})

import { execFile } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ChildProgram } from './child-program.ts'
import type { House } from './house.ts'

const NODE = fileURLToPath(new URL('trainforge_node.py', import.meta.url))
const NOTEBOOK = fileURLToPath(new URL('trainforge_notebook.py', import.meta.url))

/** Waits of the real node, shortened. */
const HASTE = ['--discovery-seconds', '0', '--poll-seconds', '0.2', '--check-seconds', '0.3']

/** Old workers of a house: nodes start in the hub's data folder, as the docs tell, and find `python` on their PATH. */
export class OldWorkers {
  readonly #house: House
  readonly #env: Readonly<Record<string, string>>
  readonly #python: string

  private constructor(house: House, python: string) {
    this.#house = house
    this.#python = python
    this.#env = { PATH: `${house.path('bin')}:${process.env.PATH}`, HOME: house.path('home') }
  }

  static async of(house: House): Promise<OldWorkers> {
    const { stdout } = await promisify(execFile)('python3', ['-c', 'import sys; print(sys.executable)'])
    const python = stdout.trim()
    for (const folder of ['bin', 'home', 'notebooks']) await mkdir(house.path(folder), { recursive: true })
    await symlink(python, house.path('bin', 'python'))
    return new OldWorkers(house, python)
  }

  async node(scheduler: string, id: string, args: readonly string[] = []): Promise<ChildProgram> {
    const node = this.#house.program({
      interpreter: this.#python,
      script: NODE,
      args: ['--scheduler', scheduler, '--worker-id', id, ...HASTE, ...args],
      env: this.#env,
      inside: ['env', '-C', this.#house.path('hub')],
    })
    await node.ready()
    return node
  }

  async notebook(api: string, token: string, type: 'a' | 'b', id: string): Promise<ChildProgram> {
    const folder = this.#house.path('notebooks')
    const told = ['--api', api, '--token', token, '--type', type, '--worker-id', id, '--folder', folder]
    const notebook = this.#house.program({
      interpreter: this.#python,
      script: NOTEBOOK,
      args: [...told, '--idle-seconds', '0.2'],
      env: this.#env,
    })
    await notebook.ready()
    return notebook
  }
}

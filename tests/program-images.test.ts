import { existsSync, readdirSync } from 'node:fs'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ChildProgram } from './harness/child-program.ts'
import { IMAGE, stopEngine, type TestEngine, whyNoEngine } from './harness/engine.ts'
import { ownEngine } from './harness/engine-shared.ts'
import { House } from './harness/house.ts'
import { buildFolder } from './harness/program-folders.ts'
import { writeWheel } from './harness/wheel.ts'

const JOBS = resolve(import.meta.dirname, '..', 'jobs')
const PROGRAMS = readdirSync(JOBS).filter(name => existsSync(join(JOBS, name, 'program.json')))

/** What every Dockerfile of a program is; one without packages leaves out the two lines of pip. */
function dockerfile(name: string, hasPackages: boolean): string {
  const pip = [
    `COPY ${name}/requirements.txt /app/${name}/`,
    `RUN pip install --no-cache-dir -r /app/${name}/requirements.txt`,
  ]
  return [
    `FROM ${IMAGE}`,
    'WORKDIR /app',
    ...(hasPackages ? pip : []),
    'COPY emit/emit.py /app/emit/',
    'COPY lib/stoker_job /app/lib/stoker_job',
    `COPY ${name} /app/${name}`,
    `CMD ["python", "/app/${name}/main.py"]`,
    '',
  ].join('\n')
}

const hasPackages = (requirements: string) => requirements.split('\n').some(line => /^\w/.test(line))

it.each(PROGRAMS)('the Dockerfile of %s is that of all programs but for its name', async name => {
  const requirements = await readFile(join(JOBS, name, 'requirements.txt'), 'utf8')
  expect(await readFile(join(JOBS, name, 'Dockerfile'), 'utf8')).toBe(dockerfile(name, hasPackages(requirements)))
  const image = name.replaceAll('_', '-')
  const script = await readFile(join(JOBS, name, 'build.sh'), 'utf8')
  expect(script).toBe(
    `#!/bin/sh\nset -e\ncd "$(dirname "$0")/.."\ndocker build -t ${image}:latest -f ${name}/Dockerfile .\n`,
  )
})

const missing = whyNoEngine('docker')
if (missing !== null) it('images of programs are not built here', context => context.skip(missing))
else
  describe('an image of a program, built by its own build.sh where no registry is', () => {
    let house: House
    let engine: TestEngine
    beforeAll(async () => {
      house = await House.open()
      engine = await ownEngine(house.path('engine'))
    })
    afterAll(async () => {
      await stopEngine(engine)
      await house.close()
    })

    async function docker(...words: string[]): Promise<ChildProgram> {
      const env = { DOCKER_HOST: `unix://${engine.socket}` }
      const [script = '', ...args] = words
      const program = new ChildProgram({ script, args, env, interpreter: 'docker' })
      await program.exited
      return program
    }

    const lastEventOf = (said: string) => JSON.parse(said.trim().split('\n').at(-1) ?? 'null')

    async function expectComputes(image: string): Promise<void> {
      const input = 'TASK_METADATA={"kind":"hash","iterations":3}'
      const ran = await docker('run', '--rm', '--pull', 'never', '--network', 'none', '--env', input, image)
      expect(lastEventOf(ran.stdout), ran.stderr).toMatchObject({
        event: 'finish',
        status: 'completed',
        result: { computationData: { iterations: 3 } },
      })
    }

    it('runs alone: compute', async () => {
      await cp(JOBS, house.path('jobs'), { recursive: true })
      await buildFolder(house.path('jobs', 'compute'), engine.socket)
      await expectComputes('compute:latest')
    })

    /** PyTorch would be gigabytes: the same lines, with a package of a few bytes from a folder. */
    it('has the packages of its requirements: compute with one, from a base image whose pip knows a folder', async () => {
      await baseWithPip(house.path('base'))
      await buildFolder(house.path('base'), engine.socket)
      const folder = house.path('with-packages', 'compute')
      await cp(JOBS, house.path('with-packages'), { recursive: true })
      await writeFile(join(folder, 'requirements.txt'), 'stoker-sample==1.0\n')
      await writeFile(join(folder, 'Dockerfile'), dockerfile('compute', true))
      await buildFolder(folder, engine.socket)
      await expectComputes('compute:latest')
      const shown = await docker(
        'run',
        '--rm',
        'compute:latest',
        'python',
        '-c',
        'import stoker_sample as s; print(s.X)',
      )
      expect(shown.stdout).toBe('1.0\n')
    })
  })

/** The offline image with pip, as the real one has it, and pip's settings of a machine without a network. */
async function baseWithPip(folder: string): Promise<void> {
  await mkdir(join(folder, 'wheels'), { recursive: true })
  await writeWheel(join(folder, 'wheels'), 'stoker_sample', '1.0', 'X = "1.0"\n')
  const asked = new ChildProgram({
    interpreter: 'python3',
    script: '-c',
    args: ['import pip, os; print(os.path.dirname(pip.__file__))'],
  })
  expect(await asked.exited).toMatchObject({ code: 0 })
  await cp(asked.stdout.trim(), join(folder, 'pip'), { recursive: true })
  await writeFile(join(folder, 'pip.sh'), '#!/bin/sh\nexec python3 -m pip "$@"\n', { mode: 0o755 })
  const lines = [
    `FROM ${IMAGE}`,
    'COPY pip /usr/lib/python3/dist-packages/pip',
    'COPY pip.sh /usr/local/bin/pip',
    'COPY wheels /wheels',
    'ENV PYTHONPATH=/usr/lib/python3/dist-packages PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels PIP_BREAK_SYSTEM_PACKAGES=1',
  ]
  await writeFile(join(folder, 'Dockerfile'), `${lines.join('\n')}\n`)
  await writeFile(join(folder, 'build.sh'), `set -e\ndocker build -t ${IMAGE} .\n`)
}

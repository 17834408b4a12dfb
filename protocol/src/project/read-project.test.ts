import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Project } from './project.ts'
import { readProject } from './read-project.ts'

const GIB = 2 ** 30

function read(config: unknown): { readonly project: Project; readonly warnings: readonly string[] } {
  const found = readProject(config)
  if (!found.ok) throw new Error(JSON.stringify(found.issues))
  return found
}

function issuesOf(config: unknown): readonly string[] {
  const found = readProject(config)
  return found.ok ? [] : found.issues.map(({ path, message }) => `${path}: ${message}`)
}

const project = { name: 'digits' }

describe('the forms of trainforge.yaml', () => {
  it('A needs only a name; the documented defaults fill in the rest', () => {
    const { project: found, warnings } = read({ project, training: {} })
    expect(warnings).toEqual([])
    expect(found).toMatchObject({
      form: 'A',
      name: 'digits',
      program: { script: 'train.py', args: [] },
      requirements: { file: 'requirements.txt', isNamed: false },
      resources: { gpus: 1, cpus: 2, memoryBytes: 4 * GIB },
      workers: 1,
      outputs: ['outputs/**', 'results/**', 'checkpoints/**'],
    })
  })

  it('A is honoured in all its keys', () => {
    const { project: found, warnings } = read({
      project: { name: 'digits', description: 'd', version: '1.0' },
      training: { script: './src/fit.py', requirements: 'deps.txt', type: 'sft', framework: 'pytorch' },
      resources: { gpu: 2, cpu: '4', memory: '512Mi' },
      environment: {
        python_version: '3.11.4',
        base_image: 'pytorch/pytorch:latest',
        env: { DEBUG: true },
        variables: { SEED: 7 },
        requirements: ['six', 'idna>=3'],
      },
      hyperparameters: { 'learning-rate': 0.01, layers: [1, 2] },
      tracking: { metrics: ['loss'], artifacts: ['plots/'] },
      artifacts: [{ name: 'm', type: 'model', path: 'model.pt', description: 'd' }, { path: 'ckpt' }],
      distributed: { mode: 'data_parallel', max_workers: 2, tasks: { retry_count: 3, timeout_seconds: 60 } },
    })
    expect(warnings).toEqual([])
    expect(found).toMatchObject({
      program: { script: 'src/fit.py' },
      requirements: { file: 'deps.txt', isNamed: true },
      packages: ['six', 'idna>=3'],
      resources: { gpus: 2, cpus: 4, memoryBytes: 512 * 2 ** 20 },
      python: '3.11',
      image: 'pytorch/pytorch:latest',
      env: { DEBUG: 'true', SEED: '7', HP_LEARNING_RATE: '0.01', HP_LAYERS: '[1,2]' },
      outputs: ['model.pt', 'ckpt', 'ckpt/**', 'plots/**'],
      workers: 2,
      retries: 3,
      timeoutSeconds: 60,
    })
  })

  it('B has its resources below training, and top-level ones come first', () => {
    const nested = { cpu: { cores: 8 }, memory: { total_gb: 16 }, gpu: { count: 2 } }
    expect(read({ project, training: { resources: nested } }).project).toMatchObject({
      form: 'B',
      resources: { gpus: 2, cpus: 8, memoryBytes: 16 * GIB },
    })
    const { form, resources } = read({ project, training: { resources: nested }, resources: { gpu: false } }).project
    expect({ form, gpus: resources.gpus }).toEqual({ form: 'A', gpus: 0 })
  })

  it.each([
    ['fit.py', { script: 'fit.py', args: [] }],
    ['python fit.py --lr 0.1 --name "a b"', { script: 'fit.py', args: ['--lr', '0.1', '--name', 'a b'] }],
    ['python3 -u fit.py', { script: 'fit.py', args: [] }],
    ['python -m fit', { script: null, shell: 'python -m fit' }],
    ['python fit.py | tee log', { script: null, shell: 'python fit.py | tee log' }],
    ['make train', { script: null, shell: 'make train' }],
    ['python "fit.py', { script: null, shell: 'python "fit.py' }],
  ])('C runs %s', (run, program) => {
    expect(read({ name: 'n', run }).project.program).toEqual(program)
    expect(read({ name: 'n', command: run }).project.program).toEqual(program)
  })

  it.each([
    ['deps.txt', { requirements: { file: 'deps.txt', isNamed: true }, packages: [], setup: null }],
    ['pip install -r deps.txt', { requirements: { file: 'deps.txt' }, setup: null }],
    ['python -m pip install "six>=1" idna==3.4', { requirements: null, packages: ['six>=1', 'idna==3.4'] }],
    ['pip install -e .', { requirements: null, packages: [], setup: 'pip install -e .' }],
    ['apt-get install x && make', { requirements: null, setup: 'apt-get install x && make' }],
  ])('C installs %s', (install, expected) => {
    expect(read({ name: 'n', run: 'a.py', install }).project).toMatchObject(expected)
    expect(read({ name: 'n', run: 'a.py', setup_command: install }).project).toMatchObject(expected)
  })

  it('C without resources leaves the number of GPUs open', () => {
    expect(read({ name: 'n', run: 'a.py' }).project.resources.gpus).toBeNull()
    expect(read({ name: 'n', run: 'a.py', resources: { cpu: 1 } }).project.resources.gpus).toBe(1)
  })
})

describe('what is odd', () => {
  it('unknown keys are warned about, with the key that may be meant', () => {
    expect(read({ project, training: { scirpt: 'x' }, secrets: 1 }).warnings).toEqual([
      'secrets is not known and changes nothing',
      'training.scirpt is not known and changes nothing; is "script" meant?',
    ])
  })

  it('a number without a unit is told as it was read', () => {
    const { project: found, warnings } = read({ project, resources: { memory: 8 } })
    expect(found.resources.memoryBytes).toBe(8 * GIB)
    expect(warnings).toEqual(['resources.memory: 8 has no unit and was read as 8.6 GB'])
  })

  it('an unquoted 3.10 is not taken for 3.1', () => {
    const { project: found, warnings } = read({ project, environment: { python_version: 3.1 } })
    expect(found.python).toBe('3.10')
    expect(warnings).toEqual([expect.stringContaining('write it in quotes')])
  })
})

describe('what is wrong', () => {
  it.each([
    ['no map', [], '(whole): found []; allowed: a map of keys'],
    ['no name', { project: {} }, 'project.name: missing; a project has a name'],
    ['neither form', { name: 'n' }, 'run: missing; a project has "project" and "training", or "name" and "run"'],
    ['a script outside', { project, training: { script: '../x.py' } }, 'training.script: found "../x.py"; allowed: a'],
    ['an option as script', { project, training: { script: '-c' } }, 'training.script: found "-c"; allowed: a path'],
    ['half a GPU', { project, resources: { gpu: 0.5 } }, 'resources.gpu: found 0.5; allowed: a whole number'],
    ['no CPU', { project, resources: { cpu: 0 } }, 'resources.cpu: found 0; allowed: a number of CPUs above 0'],
    ['odd memory', { project, resources: { memory: 'much' } }, 'resources.memory: found "much"; allowed: a size'],
    ['odd python', { project, environment: { python_version: '2.7' } }, 'environment.python_version: found "2.7"'],
    ['odd image', { project, environment: { base_image: 'a b' } }, 'environment.base_image: found "a b"; allowed'],
    ['odd variable', { project, environment: { env: { 'A-B': 1 } } }, 'environment.env.A-B: found "A-B"; allowed'],
    ['a map as value', { project, environment: { env: { A: {} } } }, 'environment.env.A: found {}; allowed: a single'],
    ['artifacts outside', { project, artifacts: [{ path: '/etc' }] }, 'artifacts[0].path: found "/etc"; allowed'],
    ['null training', { project, training: 7 }, 'training: found 7; allowed: a map of keys'],
  ])('%s is refused with its place', (_, config, message) => {
    expect(issuesOf(config)[0]).toContain(message)
  })

  it('nothing that JSON can say makes it throw', () => {
    const keys = fc.constantFrom('project', 'training', 'resources', 'environment', 'run', 'name', 'artifacts', 'gpu')
    const odd = fc.dictionary(keys, fc.oneof(fc.jsonValue(), fc.dictionary(keys, fc.jsonValue())))
    fc.assert(fc.property(odd, config => typeof readProject(config).ok === 'boolean'))
  })
})

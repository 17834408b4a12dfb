import { describe, expect, it } from 'vitest'
import { parseJobSpec } from '../job-spec.ts'
import { gpuFramework } from './gpu-imports.ts'
import { type ProjectFacts, projectSpecs } from './project-specs.ts'
import { readProject } from './read-project.ts'
import { gatherRequirements } from './requirements.ts'

const FACTS: ProjectFacts = {
  archive: { sha256: 'a'.repeat(64), size: 10, unpack: 'zip' },
  requirements: [],
  framework: null,
  pythons: ['3.11'],
  labels: {},
  mayContain: true,
}

function specsOf(config: unknown, facts: Partial<ProjectFacts> = {}) {
  const found = readProject(config)
  if (!found.ok) throw new Error(JSON.stringify(found.issues))
  const specs = projectSpecs(found.project, { ...FACTS, ...facts })
  for (const spec of [specs.plain, specs.contained])
    if (spec !== null) expect(parseJobSpec(spec)).toMatchObject({ ok: true })
  return specs
}

const project = { name: 'digits' }

describe('a project as a job', () => {
  it('runs its script where its archive was unpacked, and reads its whole configuration', () => {
    const config = { project, hyperparameters: { lr: 0.1 } }
    const { plain, contained, warnings } = specsOf(config)
    expect(plain).toMatchObject({
      name: 'digits',
      command: ['python3', 'train.py'],
      input: config,
      env: { HP_LR: '0.1' },
      resources: { gpus: 1, cpus: 2, memory: 4 * 2 ** 30 },
      files: [{ path: '.', unpack: 'zip' }],
      labels: { project: 'digits' },
    })
    expect(plain).not.toHaveProperty('environment')
    expect(plain).not.toHaveProperty('ranks')
    expect({ contained, warnings }).toEqual({ contained: null, warnings: [] })
  })

  it('gets its packages from an environment, with its Python where a worker has that', () => {
    const config = { project, environment: { python_version: '3.11' } }
    expect(specsOf(config, { requirements: ['six'] }).plain.environment).toEqual({
      requirements: ['six'],
      python: '3.11',
    })
    const other = specsOf({ project, environment: { python_version: '3.9' } })
    expect(other.plain).not.toHaveProperty('environment')
    expect(other.warnings).toEqual([expect.stringContaining('is "3.9", workers have 3.11')])
  })

  it('has one process for each GPU, and as many of that as workers are asked for', () => {
    expect(specsOf({ project, resources: { gpu: 4 } }).plain).toMatchObject({ ranks: 'gpus', resources: { gpus: 4 } })
    const two = { project, resources: { gpu: 1, cpu: 2, memory: '1Gi' }, distributed: { max_workers: 2 } }
    expect(specsOf(two).plain).toMatchObject({ ranks: 'gpus', resources: { gpus: 2, cpus: 4, memory: 2 ** 31 } })
    const none = { project, resources: { gpu: 0 }, distributed: { max_workers: 3 } }
    expect(specsOf(none).plain).toMatchObject({ ranks: 3, resources: { gpus: 0 } })
    expect(specsOf({ ...none, distributed: { mode: 'single', max_workers: 3 } }).plain).not.toHaveProperty('ranks')
  })

  it('can run in its image, which installs what it lacks at every start', () => {
    const config = { project, environment: { base_image: 'python:3.11-slim' } }
    expect(specsOf(config).contained).toMatchObject({ image: 'python:3.11-slim', command: ['python3', 'train.py'] })
    expect(specsOf(config, { mayContain: false }).contained).toBeNull()
    const { contained } = specsOf(config, { requirements: ['six'] })
    expect(contained).toMatchObject({ network: 'internet', env: { STOKER_REQUIREMENTS: 'six' } })
    expect(contained?.command).toEqual([
      'sh',
      '-c',
      expect.stringContaining('pip install'),
      'sh',
      'python3',
      'train.py',
    ])
    const many = specsOf({ ...config, resources: { gpu: 2 } }, { requirements: ['six'] })
    expect({ contained: many.contained, warnings: many.warnings }).toEqual({
      contained: null,
      warnings: [expect.stringContaining('2 processes')],
    })
  })

  it('runs a setup command before the program, with a network', () => {
    const { plain } = specsOf({ name: 'n', run: 'a.py', setup_command: 'make deps', resources: { gpu: 0 } })
    expect(plain).toMatchObject({
      network: 'internet',
      command: ['sh', '-c', expect.any(String), 'sh', 'python3', 'a.py'],
    })
  })

  it('guesses its GPU from its sources, and says so', () => {
    expect(specsOf({ name: 'n', run: 'a.py' }, { framework: 'torch' })).toMatchObject({
      plain: { resources: { gpus: 1 } },
      warnings: ['no resources are given: 1 GPU, because its sources import torch'],
    })
    expect(specsOf({ name: 'n', run: 'a.py' }).plain.resources).toMatchObject({ gpus: 0 })
  })

  it('takes retries and a timeout from its tasks', () => {
    const config = { project, distributed: { tasks: { retry_count: 2, timeout_seconds: 90 } } }
    expect(specsOf(config).plain).toMatchObject({ retries: 2, timeout: 90 })
  })
})

describe('requirements', () => {
  const files: Readonly<Record<string, string>> = {
    'requirements.txt': '# all\nsix  # old\n-r deps/base.txt\n\nidna \\\n  >=3\n',
    'deps/base.txt': 'attrs\n-r more.txt',
    'deps/more.txt': 'toml',
    'local.txt': '-e .\n./lib\nsix',
    'circle.txt': '-r circle.txt',
    'gone.txt': '-r nowhere.txt',
  }
  const read = (path: string) => files[path] ?? null

  it('come with the files they include, and without what says nothing', () => {
    expect(gatherRequirements('requirements.txt', read)).toEqual({
      ok: true,
      lines: ['six', 'attrs', 'toml', 'idna    >=3'],
    })
  })

  it.each([
    ['local.txt', 'local.txt: found "-e ."; packages are installed apart from the project'],
    ['circle.txt', 'circle.txt: is included by circle.txt'],
    ['gone.txt', 'nowhere.txt: gone.txt includes it, it is not there'],
    ['none.txt', 'none.txt: the project has no such file'],
  ])('%s is refused with the reason', (file, message) => {
    const found = gatherRequirements(file, read)
    expect(found.ok ? '' : `${found.issues[0]?.path}: ${found.issues[0]?.message}`).toContain(message)
  })
})

it('knows frameworks for GPUs by how sources import them', () => {
  expect(gpuFramework('import os, torch')).toBe('torch')
  expect(gpuFramework('  from jax import numpy')).toBe('jax')
  expect(gpuFramework('# import torch\nimport torchlight')).toBeNull()
})

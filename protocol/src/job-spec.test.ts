import { describe, expect, it } from 'vitest'
import { parseJobSpec } from './job-spec.ts'

function issuesOf(value: unknown): Record<string, string> {
  const parsed = parseJobSpec(value)
  if (parsed.ok) throw new Error('the spec was accepted')
  return Object.fromEntries(parsed.issues.map(({ path, message }) => [path, message]))
}

describe('a job spec', () => {
  it('gets its defaults', () => {
    expect(parseJobSpec({ command: ['python3', 'train.py'] })).toEqual({
      ok: true,
      spec: {
        name: 'python3 train.py',
        type: 'command',
        command: ['python3', 'train.py'],
        input: {},
        env: {},
        isolation: 'auto',
        network: null,
        resources: { gpus: 0, gpuMemoryBytes: null, gpuModel: null, cpus: 1, memoryBytes: null },
        placement: { worker: null, tags: [] },
        priority: 0,
        timeoutMs: null,
        lostAfterMs: null,
        retries: { max: 0, on: ['failed'], initialMs: 1000, maxMs: 300_000 },
        labels: {},
        outputLimitBytes: 2 ** 30,
        files: [],
        outputs: [],
      },
    })
  })

  it('reads sizes, durations and retries', () => {
    const parsed = parseJobSpec({
      command: 'train',
      resources: { gpuMemory: '24GB', memory: '16Gi', cpus: 0.5 },
      timeout: '10m',
      retries: { max: 3, on: ['failed', 'timed_out'], backoff: { initial: '2s' } },
    })
    expect(parsed).toMatchObject({
      ok: true,
      spec: {
        resources: { gpus: 1, gpuMemoryBytes: 24e9, memoryBytes: 2 ** 34, cpus: 0.5 },
        timeoutMs: 600_000,
        retries: { max: 3, on: ['failed', 'timed_out'], initialMs: 2000, maxMs: 300_000 },
      },
    })
  })

  it('gives inline types no CPU of their own', () => {
    expect(parseJobSpec({ type: 'noop' })).toMatchObject({ ok: true, spec: { resources: { cpus: 0 } } })
  })

  it('names the nearest known key for an unknown one', () => {
    expect(issuesOf({ comand: 'x', command: 'y' }).comand).toMatch(/did you mean "command"\?/)
    expect(issuesOf({ command: 'y', resources: { gpu: 1 } })['resources.gpu']).toMatch(/did you mean "gpus"\?/)
  })

  it('says what was found and what is allowed, for everything at once', () => {
    const issues = issuesOf({
      command: [],
      resources: { memory: '-3GB', cpus: -1 },
      timeout: 'soon',
      priority: 'high',
      isolation: 'jail',
    })
    expect(Object.keys(issues).sort()).toEqual([
      'command',
      'isolation',
      'priority',
      'resources.cpus',
      'resources.memory',
      'timeout',
    ])
    expect(issues['resources.memory']).toMatch(/found "-3GB"; memory is a size/)
    expect(issues.timeout).toMatch(/found "soon"; timeout is a duration/)
    expect(issues.isolation).toMatch(/found "jail"; allowed: "auto", "none"/)
  })

  it('refuses what a later release brings, with that reason', () => {
    const issues = issuesOf({
      command: 'x',
      secrets: ['K'],
      image: 'i',
      isolation: 'container',
    })
    for (const path of ['secrets', 'image', 'isolation']) expect(issues[path]).toMatch(/not available in this release/)
  })

  it('names its input files by content and refuses places outside the folder of the job', () => {
    const sha256 = 'ab'.repeat(32)
    const parsed = parseJobSpec({
      command: 'x',
      files: [{ path: '.', sha256, size: 3, unpack: 'tar' }],
      outputs: ['o'],
    })
    expect(parsed).toMatchObject({
      spec: { files: [{ path: '.', sha256, size: 3, unpack: 'tar', executable: false }], outputs: ['o'] },
    })
    const issues = issuesOf({
      command: 'x',
      files: [
        { path: '../a', sha256, size: 3 },
        { path: '.', sha256, size: 3 },
        { path: 'a', sha256: 'AB', size: -1 },
      ],
      outputs: ['../o', '!x', '/etc/*'],
    })
    expect(Object.keys(issues).sort()).toEqual([
      'files[0].path',
      'files[1].path',
      'files[2].sha256',
      'files[2].size',
      'outputs[0]',
      'outputs[1]',
      'outputs[2]',
    ])
  })

  it('checks what each type needs', () => {
    expect(issuesOf({}).command).toMatch(/needs one/)
    expect(issuesOf({ type: 'echo', command: 'x' }).command).toMatch(/has none/)
    expect(issuesOf({ type: 'echo', outputs: ['x'] }).outputs).toMatch(/type "echo" runs without a folder/)
    expect(issuesOf({ type: 'custom_script', input: {} }).input).toMatch(/neither of script and scriptUrl/)
    expect(issuesOf({ type: 'custom_script', input: { script: 'a', scriptUrl: 'https://x.y/z' } }).input).toMatch(
      /both/,
    )
    expect(issuesOf({ type: 'custom_script', input: { scriptUrl: 'file:///etc/passwd' } })['input.scriptUrl']).toMatch(
      /http/,
    )
    expect(issuesOf({ type: 'noop', input: { runMS: 5 } })['input.runMS']).toMatch(/did you mean "runMs"/)
  })

  it('refuses to take the network away without a sandbox', () => {
    expect(issuesOf({ command: 'x', isolation: 'none', network: 'none' }).network).toMatch(/only a sandbox/)
  })

  it('refuses what no program can be given', () => {
    expect(issuesOf({ command: ['a', 'b\0c'] })['command[1]']).toMatch(/no NUL/)
    expect(issuesOf({ command: 'x', env: { A: '\0' } })['env.A']).toMatch(/no NUL/)
  })

  it.each([null, 5, 'text', [], [1]])('refuses %j as a whole', value => {
    expect(Object.keys(issuesOf(value))).toEqual(['(whole)'])
  })
})

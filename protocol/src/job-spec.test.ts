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
        resources: {
          gpus: 0,
          gpuMemoryBytes: null,
          gpuModel: null,
          gpuSharing: 'exclusive',
          cpus: 1,
          memoryBytes: null,
          diskBytes: null,
        },
        placement: { worker: null, exclude: [], tags: [], avoidTags: [], preferTags: [], unverified: false },
        priority: 0,
        timeoutMs: null,
        lostAfterMs: null,
        retries: { max: 0, on: ['failed'], initialMs: 1000, maxMs: 300_000 },
        labels: {},
        outputLimitBytes: 2 ** 30,
        files: [],
        outputs: [],
        dependsOn: [],
        hold: false,
        secrets: [],
        container: null,
        model: null,
        preset: null,
        session: null,
        task: null,
        environment: null,
        ranks: null,
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

  it('reads tags as a list of what is required, or as what is required, avoided and preferred', () => {
    const placementOf = (placement: unknown) => {
      const parsed = parseJobSpec({ command: 'x', placement })
      return parsed.ok ? parsed.spec.placement : parsed.issues
    }
    const none = { worker: null, exclude: [], tags: [], avoidTags: [], preferTags: [], unverified: false }
    expect(placementOf({ tags: ['b', 'a', 'b'] })).toEqual({ ...none, tags: ['a', 'b'] })
    expect(placementOf({ tags: { require: ['a'], avoid: ['c'], prefer: ['d'] }, exclude: ['w2', 'w1'] })).toEqual({
      ...none,
      tags: ['a'],
      avoidTags: ['c'],
      preferTags: ['d'],
      exclude: ['w1', 'w2'],
    })
  })

  it('takes a part of one device when it is shared, and needs to know which part', () => {
    expect(parseJobSpec({ command: 'x', resources: { gpuSharing: 'shared', gpuMemory: '8GB' } })).toMatchObject({
      spec: { resources: { gpus: 1, gpuSharing: 'shared', gpuMemoryBytes: 8e9 } },
    })
    expect(issuesOf({ command: 'x', resources: { gpuSharing: 'shared' } })['resources.gpuMemory']).toMatch(/missing/)
    const none = issuesOf({ command: 'x', resources: { gpuSharing: 'shared', gpuMemory: 9, gpus: 0 } })
    expect(none['resources.gpuMemory']).toMatch(/found 9; .* 1 MiB or more/)
    expect(none['resources.gpus']).toMatch(/at least one device/)
    expect(issuesOf({ command: 'x', resources: { gpuSharing: 'half' } })['resources.gpuSharing']).toMatch(/"shared"/)
  })

  it('refuses wishes that no worker can meet', () => {
    const issues = issuesOf({
      command: 'x',
      placement: { worker: 'w1', exclude: ['w1'], tags: { require: ['a'], avoid: ['a'] } },
    })
    expect(issues['placement.exclude']).toMatch(/"w1", which placement.worker asks for/)
    expect(issues['placement.tags.avoid']).toMatch(/"a", which is required too/)
    const unknown = issuesOf({ command: 'x', placement: { tags: { requires: ['a'] } } })
    expect(JSON.stringify(unknown)).toMatch(/requires/)
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

  it('runs in a container when it names an image, whose own command will do', () => {
    const parsed = parseJobSpec({
      image: 'python:3.11-slim',
      container: { shm: '1Gi' },
      mounts: [{ source: '/d', target: '/e' }],
    })
    expect(parsed.ok && parsed.spec).toMatchObject({
      name: 'python:3.11-slim',
      command: null,
      container: {
        image: 'python:3.11-slim',
        pull: 'missing',
        user: null,
        workdir: null,
        writableRoot: false,
        shmBytes: 2 ** 30,
        tmpBytes: 64 * 2 ** 20,
        mounts: [{ source: '/d', target: '/e', readOnly: true }],
      },
    })
  })

  it('refuses words about a container without an image, and an image where none can run', () => {
    expect(issuesOf({ command: 'x', pull: 'never', container: {}, mounts: [] })).toMatchObject({
      pull: expect.stringMatching(/without an image/),
      container: expect.stringMatching(/without an image/),
      mounts: expect.stringMatching(/without an image/),
    })
    expect(issuesOf({ command: 'x', isolation: 'container' }).image).toMatch(/missing/)
    expect(issuesOf({ image: 'a', isolation: 'sandbox' }).isolation).toMatch(/runs in a container/)
    expect(issuesOf({ image: 'a', type: 'noop' }).image).toMatch(/starts no program/)
    expect(issuesOf({ image: 'a b' }).image).toMatch(/is named like/)
    expect(issuesOf({ image: 'a', mounts: [{ source: '../x', target: '/y' }] })['mounts[0].source']).toMatch(/no ".."/)
  })

  it('is a session, or a task of one', () => {
    const session = parseJobSpec({ command: 'x', session: { idleTimeout: '1m', restarts: 2 } })
    expect(session.ok && session.spec).toMatchObject({
      session: { concurrency: 1, queue: 5, idleMs: 60_000, lifetimeMs: 3_600_000 },
      retries: { max: 2 },
      task: null,
    })
    const task = parseJobSpec({ task: { preset: 'm/p' }, input: { a: 1 } })
    expect(task.ok && task.spec).toMatchObject({
      type: 'task',
      task: { session: null, preset: 'm/p' },
      resources: { cpus: 0 },
    })
    expect(issuesOf({ type: 'task' }).task).toMatch(/missing/)
    expect(issuesOf({ command: 'x', type: 'command', task: { session: 'a' } }).task).toMatch(/is none/)
    expect(issuesOf({ type: 'noop', session: {} }).session).toMatch(/no program/)
    expect(issuesOf({ task: { session: 'a' }, command: 'x' }).command).toMatch(/has none/)
    expect(
      issuesOf({ task: { session: 'a' }, files: [{ path: 'a', sha256: 'ab'.repeat(32), size: 1 }] }).files,
    ).toMatch(/folder/)
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

  it('names other jobs by id, in any case of letters, or by their name in the batch, and says how they must end', () => {
    const id = '01999999-9999-7999-8999-99999999ABCD'
    expect(parseJobSpec({ type: 'noop', hold: true, dependsOn: [id, { job: 'prep', on: 'end' }] })).toMatchObject({
      spec: {
        hold: true,
        dependsOn: [
          { job: id.toLowerCase(), on: 'success' },
          { job: 'prep', on: 'end' },
        ],
      },
    })
    const bad = issuesOf({ type: 'noop', hold: 'yes', dependsOn: ['', { job: 'a', on: 'never' }, { jb: 'a' }, 7] })
    expect(Object.keys(bad).sort()).toEqual(['dependsOn[0]', 'dependsOn[1]', 'dependsOn[2]', 'dependsOn[3]', 'hold'])
    expect(bad['dependsOn[1]']).toMatch(/"success", "end", "failure"/)
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

it('ranks need a command that is known', () => {
  const issuesOf = (spec: object) => {
    const parsed = parseJobSpec({ ranks: 2, ...spec })
    return parsed.ok ? [] : parsed.issues
  }
  expect(issuesOf({ image: 'a' })).toEqual([
    { path: 'ranks', message: 'found ranks and no command; what an image starts by itself is not known' },
  ])
  expect(issuesOf({ image: 'a', command: 'x' })).toEqual([])
  expect(issuesOf({ image: 'a', type: 'training' })).toEqual([])
})

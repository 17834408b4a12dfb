import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useTestHub } from '../test-terminal.ts'

const { hub, stoker, home } = useTestHub()
const names = () => [...hub().jobs.values()].map(job => job.name)

async function file(name: string, text: string): Promise<string> {
  const path = join(home(), name)
  await writeFile(path, text)
  return path
}

test('several documents, a list and a map of jobs are batches, over several files one request', async () => {
  const a = await file('a.yaml', 'name: one\ncommand: [echo, hi]\n---\nname: two\ncommand: echo hi\n')
  const b = await file('b.json', '[{"name":"three","type":"noop"}]')
  const c = await file('c.yml', 'jobs:\n  - {name: four, type: noop}\n')
  const { code, stdout } = await stoker(['submit', a, b, c])
  expect(code).toBe(0)
  expect(names()).toEqual(['one', 'two', 'three', 'four'])
  expect(stdout.trim().split('\n')).toEqual([...hub().jobs.keys()])
  expect(hub().seen).toHaveLength(1)
})

test('stdin is a file named -', async () => {
  expect((await stoker(['submit', '-', '-q'], { stdin: 'type: noop\nname: piped\n' })).code).toBe(0)
  expect(names()).toEqual(['piped'])
})

test('YAML that does not parse is told with line and column', async () => {
  const path = await file('bad.yaml', 'name: x\ncommand: [echo\nenv: {}\n')
  const { code, stderr } = await stoker(['submit', path])
  expect(code).toBe(2)
  expect(stderr).toMatch(/bad\.yaml:3:1: /)
})

test('what the hub refuses is told with the place in the file', async () => {
  const path = await file('typo.yaml', 'name: ok\ntype: noop\n---\ncommand: [a]\nresources:\n  gpus: many\ncomand: b\n')
  const { code, stderr } = await stoker(['submit', path])
  expect(code).toBe(2)
  expect(stderr).toMatch(/typo\.yaml:6:9: resources\.gpus: found "many"/)
  expect(stderr).toMatch(/typo\.yaml:7:9: comand: unknown key "comand"; did you mean "command"\?/)
})

test('a file that is not there, empty or no map is said so', async () => {
  expect((await stoker(['submit', join(home(), 'none.yaml')])).stderr).toContain('it does not exist')
  expect((await stoker(['submit', await file('empty.yaml', '# nothing\n')])).stderr).toContain('it holds none')
  expect((await stoker(['submit', await file('text.yaml', '- just text\n')])).stderr).toContain(
    'text.yaml:1:3: a job is a map',
  )
})

test('options win over the file and are joined with its maps', async () => {
  const path = await file(
    'job.yaml',
    'name: old\ncommand: [x]\nenv: {A: "1", B: "2"}\nresources: {cpus: 4, memory: 1GB}\n',
  )
  const line = [
    'submit',
    path,
    '--name',
    'new',
    '--env',
    'B=3=4',
    '--cpus',
    '0.5',
    '--gpus',
    '2',
    '--gpu-memory',
    '24GB',
  ]
  const more = ['--tag', 'a', '--tag', 'b', '--label', 'k=v', '--retries', '2', '--priority', '-5', '--timeout', '2h']
  expect((await stoker([...line, ...more, '--network', 'internet', '--worker', 'w1'])).code).toBe(0)
  const [job] = hub().jobs.values()
  expect(job?.spec).toMatchObject({
    name: 'new',
    env: { A: '1', B: '3=4' },
    resources: { cpus: 0.5, gpus: 2, memoryBytes: 1e9, gpuMemoryBytes: 24e9 },
    placement: { worker: 'w1', tags: ['a', 'b'] },
    labels: { k: 'v' },
    retries: { max: 2 },
    priority: -5,
    timeoutMs: 7_200_000,
    network: 'internet',
  })
})

test('inputs are JSON, or text where they are not', async () => {
  await stoker(['submit', '-', '--input', 'n=3', '--input', 'prompt=a red fox', '--input', 'list=[1,2]'], {
    stdin: 'type: echo',
  })
  expect([...hub().jobs.values()][0]?.spec.input).toEqual({ n: 3, prompt: 'a red fox', list: [1, 2] })
})

test('dependencies of the command line join those of the file, by whole ids', async () => {
  await stoker(['submit', '-', '-q'], { stdin: 'type: noop' })
  const [first = ''] = hub().jobs.keys()
  const stdin = `type: noop\ndependsOn: [${first}]`
  const line = ['submit', '-', '--hold', '--after', first.slice(-12), '--after', `${first.toUpperCase()}:end`]
  expect((await stoker(line, { stdin })).code).toBe(0)
  expect([...hub().jobs.values()][1]?.spec).toMatchObject({
    hold: true,
    dependsOn: ['success', 'success', 'end'].map(on => ({ job: first, on })),
  })
  expect((await stoker(['submit', '-', '--after', 'x:never'], { stdin })).stderr).toContain('JOB:failure')
  expect((await stoker(['submit', '-', '--after', 'ffff'], { stdin })).code).toBe(3)
})

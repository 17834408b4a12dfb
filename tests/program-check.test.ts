import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ChildProgram } from './harness/child-program.ts'
import { bundles } from './harness/config.ts'
import { IMAGE } from './harness/engine.ts'
import { containersOf } from './harness/engine-api.ts'
import { sharedEngine } from './harness/engine-shared.ts'

/** Says four events in three seconds, and leaves it to Python when they go out. */
const GATHERS = `import json, time
for i in range(3):
    print(json.dumps({"event": "text_delta", "delta": str(i)}))
    time.sleep(1)
print(json.dumps({"event": "finish", "status": "completed"}))
`
const DONE = `echo '{"event":"finish","status":"completed"}'`
const engine = await sharedEngine('docker')

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-program-'))
})
afterEach(async () => {
  await rm(folder, { recursive: true })
})

async function stoker(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const inside = ['env', '-C', folder]
  const program = new ChildProgram({ script: join(bundles, 'stoker.js'), args: ['program', ...args], env, inside })
  const { code } = await program.exited
  return { code, stdout: program.stdout, stderr: program.stderr }
}

async function codes(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { code, stdout } = await stoker(['check', '--quiet', ...args], env)
  return { code, codes: stdout.split('\n').filter(line => line !== '') }
}

describe('a program on this machine', () => {
  it('that gathers its lines is found, one that flushes them is not', async () => {
    await writeFile(join(folder, 'gathers.py'), GATHERS)
    const check = ['--no-stop', '--env', 'PYTHONUNBUFFERED=', '--', 'python3']
    expect(await codes([...check, 'gathers.py'])).toEqual({ code: 1, codes: ['stdout.buffered'] })
    expect(await codes([...check, '-u', 'gathers.py'])).toEqual({ code: 0, codes: [] })
  })

  it('is one of ours from the first: new, check', async () => {
    expect((await stoker(['new', 'mine'])).code).toBe(0)
    expect(await codes(['--', 'python3', 'mine/worker.py'])).toEqual({ code: 0, codes: [] })
    expect(await codes(['--session', '--', 'python3', 'mine/worker.py'])).toEqual({ code: 0, codes: [] })
  })
})

if (typeof engine === 'string') it('images are not checked here', context => context.skip(engine))
else
  describe('an image', () => {
    const env = { DOCKER_HOST: `unix://${engine.socket}` }
    const inImage = (script: string, options: readonly string[] = []) =>
      codes([...options, '--image', IMAGE, '--', 'sh', '-c', script], env)

    afterEach(async () => {
      const left = await containersOf(engine.socket)
      expect(left.filter(one => one.Labels['stoker.check'] !== undefined)).toEqual([])
    })

    it('of a new program is built by its build.sh and passes, once and as a session', async () => {
      await stoker(['new', 'mine'])
      const built = new ChildProgram({ script: join(folder, 'mine', 'build.sh'), args: [], env, interpreter: 'sh' })
      expect(await built.exited, built.stderr).toMatchObject({ code: 0 })
      expect(await codes(['--image', 'mine:latest'], env)).toEqual({ code: 0, codes: [] })
      expect(await codes(['--session', '--image', 'mine:latest'], env)).toEqual({ code: 0, codes: [] })
    })

    it('runs as nobody, without network, on a root it cannot change', async () => {
      const facts = ['[ $(id -u) = 65534 ]', '[ $(ls /sys/class/net) = lo ]', '! touch /x', 'touch /tmp/x /work/x']
      const more = ['[ $(pwd) = /work ]', '[ $MODEL_PATH = /models ]', '[ -z "$(ls -A /models)" ]', '! touch /models/x']
      expect(await inImage(`{ ${[...facts, ...more].join(' && ')}; } 2>/dev/null && ${DONE}`)).toEqual({
        code: 0,
        codes: [],
      })
    })

    it('sees the model it is given, and cannot change it', async () => {
      await writeFile(join(folder, 'weights'), 'w')
      const refused = await stoker(['check', '--image', IMAGE, '--model-path', folder], env)
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('chmod o+rx') })
      await chmod(folder, 0o755)
      const script = `[ $(cat /models/weights) = w ] && ! touch /models/x 2>/dev/null && ${DONE}`
      expect((await inImage(script, ['--model-path', folder])).codes).toEqual([])
    })

    it('shows the mistakes of its program', async () => {
      const events = `echo "{'event': 'text'}"; echo '{"event":"text","content":"x"}' >&2; ${DONE}; exit 3`
      expect((await inImage(events, ['--no-stop'])).codes.sort()).toEqual([
        'exit.after_completed',
        'json.invalid',
        'stderr.event',
      ])
      expect((await inImage('cat', ['--no-stop'])).codes).toEqual(['finish.missing'])
    })

    it('whose program gathers its lines is found', async () => {
      const check = ['--no-stop', '--env', 'PYTHONUNBUFFERED=', '--image', IMAGE, '--', 'python3']
      expect((await codes([...check, '-c', GATHERS], env)).codes).toEqual(['stdout.buffered'])
      expect((await codes([...check, '-u', '-c', GATHERS], env)).codes).toEqual([])
    })

    it('whose program ignores SIGTERM is found, and the container is gone', async () => {
      const script = `trap "" TERM; ${DONE}; exec sleep 600`
      const { codes } = await inImage(script, ['--timeout', '1s', '--grace', '1s'])
      expect(codes).toEqual(['run.timeout', 'stop.ignored'])
    })

    it('that the engine does not have is said to be missing', async () => {
      const none = await stoker(['check', '--image', 'no-such:1'], env)
      expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining('the engine has no image no-such:1') })
    })
  })

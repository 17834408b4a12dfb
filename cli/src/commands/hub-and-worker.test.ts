import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { TEST_TOKEN } from '../../../client/src/test-hub.ts'
import { OUTPUT_SCHEMAS } from '../output/schemas.ts'
import { compileStandIns, leftOvers } from '../processes/test-stand-in.ts'
import { typeLine, useTestFolder } from '../test-terminal.ts'

const home = useTestFolder()

afterEach(async () => expect(await leftOvers(home())).toEqual([]))

test('a hub and a worker of their own find each other through the context and end on Ctrl-C', async () => {
  const programs = await compileStandIns(join(home(), 'programs'))
  const workers: ReturnType<typeof typeLine>[] = []
  const hub = await typeLine(home(), ['hub', '--port', '0', '--json'], {
    programs,
    onWrite(text, stopHub) {
      if (workers.length > 0 || !text.includes('"url"')) return
      const onWrite = (said: string, stop: () => void) => said.includes('"w-1"') && stop()
      const worker = typeLine(home(), ['worker', '--json', '--tag', 'x'], { programs, onWrite })
      workers.push(worker)
      void worker.then(stopHub)
    },
  })
  const url = OUTPUT_SCHEMAS.hub.parse(JSON.parse(hub.stdout)).url
  const joined = await workers[0]
  expect(OUTPUT_SCHEMAS.worker.parse(JSON.parse(joined?.stdout ?? ''))).toEqual({ id: 'w-1', name: 'box', hub: url })
  expect([hub.code, joined?.code]).toEqual([0, 0])
  expect(await readFile(join(home(), 'hub', 'story'), 'utf8')).toContain('worker started stk_join false')
  expect(hub.stdout + hub.stderr).not.toContain(TEST_TOKEN)
})

test('a hub that cannot start says its sentence and nothing is left', async () => {
  const programs = await echoPrograms("console.error('the folder is in use'); process.exit(1)")
  const { code, stderr } = await typeLine(home(), ['hub', '--port', '0'], { programs })
  expect(code).toBe(1)
  expect(stderr).toBe('the folder is in use\nstoker: the hub did not start\n')
})

test.each([
  [['backup', 'copy'], 'hub', ['backup', '--data', '$/hub', '--to', 'copy']],
  [['restore', 'copy', '--data', 'd'], 'hub', ['restore', '--from', 'copy', '--data', 'd/hub']],
  [['verify', '--json'], 'hub', ['verify', '--data', '$/hub', '--json']],
  [['presets', 'check'], 'hub', ['check-presets', '--presets', '$/presets']],
  [['presets', 'check', '-q', 'p'], 'hub', ['check-presets', '--presets', '$/p', '--quiet']],
  [['sim', '--workers', '500', '--help'], 'sim', ['--workers', '500', '--help']],
])('%j is passed on and its exit code comes back', async (argv, name, expected) => {
  const programs = await echoPrograms('process.exit(7)')
  expect((await typeLine(home(), argv, { programs })).code).toBe(7)
  const told = JSON.parse(await readFile(join(programs, `${name}.args`), 'utf8'))
  expect(told).toEqual(expected.map(word => word.replace('$', home())))
})

async function echoPrograms(ending: string): Promise<string> {
  const folder = join(home(), 'programs')
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  for (const name of ['hub', 'sim']) {
    const source = `import { writeFileSync } from 'node:fs'
writeFileSync(${JSON.stringify(join(folder, `${name}.args`))}, JSON.stringify(process.argv.slice(2)))
${ending}`
    await writeFile(join(folder, `${name}.js`), source)
  }
  return folder
}

import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeWheel } from '../../../tests/harness/wheel.ts'
import { Workbench } from '../executors/workbench.ts'
import { findPythons } from '../probe/python.ts'
import { type BuildMeans, buildMeans } from './build-means.ts'
import type { EnvironmentStore } from './environment-store.ts'
import { aWatch, EnvironmentBench } from './test-environments.ts'

const ABILITIES = {
  ...{ executors: ['process' as const], sandbox: true, unsandboxed: true, internet: true, hostNetwork: false },
  note: null,
}

/** A folder that pip reads as an index, with one package of one version. */
async function anIndex(root: string, version: string): Promise<string> {
  const index = join(root, `index-${version}`)
  await mkdir(join(index, 'stoker-sample'), { recursive: true })
  const wheel = await writeWheel(join(index, 'stoker-sample'), 'stoker_sample', version, '')
  const name = basename(wheel)
  await writeFile(join(index, 'stoker-sample', 'index.html'), `<a href="${encodeURIComponent(name)}">${name}</a>`)
  return index
}

describe.each(['sandbox', 'none'] as const)('environments made by pip with isolation %s', isolation => {
  let bench: Workbench
  let place: EnvironmentBench
  let store: EnvironmentStore
  beforeEach(async () => {
    bench = await Workbench.open()
    place = await EnvironmentBench.open()
    const means = async (): Promise<BuildMeans | string> =>
      buildMeans({ ...ABILITIES, sandbox: isolation === 'sandbox' }, process.env)
    store = await place.store(bench.executor(), { means })
  })
  afterEach(async () => {
    await bench.close()
    await place.close()
  })

  const python = async () => {
    const [found] = await findPythons()
    if (found === undefined) throw new Error('these tests need Python')
    return found
  }

  it('have the packages, work where they are, and leave the wheels for the next one', async () => {
    const watch = aWatch()
    const wish = { requirements: 'six\nidna==3.10 # names', python: await python() }
    const path = await store.hold(wish, await place.holder('a'), watch)
    expect(watch.heard.output).toContain('Successfully installed idna-3.10 six-')
    expect(watch.heard.operations.at(-1)).toBe('installing 2 of 2 packages')
    const [facts] = await store.shelf.list()
    expect(facts).toMatchObject({ packages: ['idna-3.10', expect.stringMatching(/^six-/)], holders: 1 })
    expect((await stat(join(path, 'bin'))).uid).toBe(process.getuid?.())
    expect((await readdir(store.shelf.wheels)).map(name => name.split('-')[0]).sort()).toEqual(['idna', 'six'])
    expect(await readdir(store.shelf.building)).toEqual([])

    const script = 'import six, idna, sys; print(sys.prefix, idna.encode("ö.de"))'
    const order = await bench.anOrder([join(path, 'bin/python'), '-c', script], {
      isolation,
      visiblePaths: [path, wish.python.prefix],
    })
    const run = await bench.executor().start(order)
    expect(await run.ended).toMatchObject({ exitCode: 0 })
    expect(await readFile(join(order.folder, 'stdout'), 'utf8')).toBe(`${path} b'xn--nda.de'\n`)
    await run.release()

    const offline = await place.store(bench.executor(), {
      means: async () => ({ isolation, network: 'none', env: { PIP_NO_INDEX: '1' }, visiblePaths: [] }),
    })
    expect(await offline.hold({ ...wish, requirements: 'idna' }, await place.holder('b'), aWatch())).not.toBe(path)
  })

  it('come from the index that the machine was given beside the first: its build wins over the plain one', async () => {
    const [plain, own] = [await anIndex(place.root, '1.0'), await anIndex(place.root, '1.0+cpu')]
    const settings = { PIP_INDEX_URL: `file://${plain}`, PIP_EXTRA_INDEX_URL: `file://${own}` }
    const means = () => buildMeans({ ...ABILITIES, sandbox: isolation === 'sandbox' }, { HOME: '/', ...settings })
    const store = await place.store(bench.executor(), { means })
    const wish = { requirements: 'stoker-sample==1.0', python: await python() }
    await store.hold(wish, await place.holder('a'), aWatch())
    expect((await store.shelf.list()).map(({ packages }) => packages)).toEqual([['stoker_sample-1.0+cpu']])
  })

  it('that fail leave nothing, and the error names the package', async () => {
    const watch = aWatch()
    const wish = { requirements: 'six\nno-such-package-of-stoker==1.0', python: await python() }
    await expect(store.hold(wish, await place.holder('a'), watch)).rejects.toThrow(
      /^no-such-package-of-stoker==1\.0 could not be installed\n[\s\S]*No matching distribution/,
    )
    expect(store.has(wish)).toBe(false)
    expect(store.failureOf(wish)).toContain('no-such-package-of-stoker')
    expect(await readdir(store.shelf.building)).toEqual([])
    expect(await readdir(join(store.shelf.folder, 'envs'))).toEqual([])
  })

  it('are given up at once when nobody waits any more', async () => {
    const watch = aWatch()
    const holding = store.hold({ requirements: 'six', python: await python() }, await place.holder('a'), {
      ...watch,
      onOutput: () => watch.stop.abort(new Error('canceled')),
      onProgress: () => watch.stop.abort(new Error('canceled')),
    })
    await expect(holding).rejects.toThrow('canceled')
    expect(await readdir(store.shelf.building)).toEqual([])
  })
})

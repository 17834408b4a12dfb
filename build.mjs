import { cp, mkdir, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

const OUT = 'cli/dist'
/** Python that the worker starts lies beside it. */
const PYTHON = ['worker/src/executors', 'worker/src/environments']

/** CommonJS dependencies inside an ES module bundle still ask for `require`. */
const banner = {
  js: "import { createRequire as stokerRequire } from 'node:module'; const require = stokerRequire(import.meta.url);",
}

/** The schema library brings its messages in fifty languages; every start of the program would read them. */
const englishOnly = {
  name: 'english-only',
  setup(build) {
    build.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js'",
    }))
  },
}

const shared = {
  banner,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  legalComments: 'none',
  logLevel: 'warning',
  plugins: [englishOnly],
  minifyWhitespace: true,
  minifySyntax: true,
  // Native code, and a page served from its own folder, stay where npm put them.
  external: ['@photostructure/sqlite', '@scalar/fastify-api-reference'],
}

await rm(OUT, { recursive: true, force: true })
await mkdir(OUT, { recursive: true })
await Promise.all([
  build({
    ...shared,
    entryPoints: {
      stoker: 'cli/src/main.ts',
      'qubix-worker': 'cli/src/qubix-worker.ts',
      'trainforge-worker': 'cli/src/trainforge-worker.ts',
    },
    outdir: OUT,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
  }),
  // What few hubs need stays outside and is loaded when it is needed: even text that is never run takes memory.
  build({
    ...shared,
    external: [
      ...shared.external,
      'selfsigned',
      'undici',
      '@fastify/ajv-compiler',
      '@fastify/fast-json-stringify-compiler',
    ],
    entryPoints: { hub: 'hub/src/main.ts' },
    outdir: OUT,
    splitting: true,
    // Beside the entry: what a module looks for next to itself lies there.
    chunkNames: 'hub-[name]-[hash]',
  }),
  build({
    ...shared,
    outdir: OUT,
    entryPoints: {
      'sqlite-thread': 'hub/src/store/sqlite/sqlite-thread.ts',
      worker: 'worker/src/main.ts',
      doctor: 'worker/src/doctor/main.ts',
      environments: 'worker/src/env/main.ts',
      sim: 'sim/src/main.ts',
    },
  }),
])
for (const folder of PYTHON)
  for (const name of await readdir(folder)) if (name.endsWith('.py')) await cp(join(folder, name), join(OUT, name))
await cp('hub/src/gateways/trainforge/trainforge-runner.py', join(OUT, 'trainforge-runner.py'))
await copyPrograms()
await cp('jobs/starter', join(OUT, 'starter'), { recursive: true })
await cp('jobs/emit/emit.py', join(OUT, 'starter', 'emit.py'))

/** Programs of job types, and what they share; their tests and images are for those who build them. */
async function copyPrograms() {
  const left = /^(test.*|tests|__pycache__|Dockerfile|build\.sh|README\.md|.*\.test\.ts|.*\.pyc)$/
  const folders = (await readdir('jobs', { withFileTypes: true })).filter(entry => entry.isDirectory())
  for (const { name } of folders) {
    const entries = await readdir(join('jobs', name))
    if (name !== 'lib' && name !== 'emit' && !entries.includes('program.json')) continue
    await cp(join('jobs', name), join(OUT, 'jobs', name), {
      recursive: true,
      filter: source => !left.test(basename(source)),
    })
  }
}

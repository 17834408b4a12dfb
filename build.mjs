import { cp, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'

const OUT = 'cli/dist'
const KEEPER = 'worker/src/executors'

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
  }),
  build({
    ...shared,
    outdir: OUT,
    entryPoints: {
      'sqlite-thread': 'hub/src/store/sqlite/sqlite-thread.ts',
      worker: 'worker/src/main.ts',
      doctor: 'worker/src/doctor/main.ts',
      sim: 'sim/src/main.ts',
    },
  }),
])
for (const name of await readdir(KEEPER)) if (name.endsWith('.py')) await cp(join(KEEPER, name), join(OUT, name))
await cp('hub/src/gateways/trainforge/trainforge-runner.py', join(OUT, 'trainforge-runner.py'))
await cp('jobs/starter', join(OUT, 'starter'), { recursive: true })
await cp('jobs/emit/emit.py', join(OUT, 'starter', 'emit.py'))

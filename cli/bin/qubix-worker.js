#!/usr/bin/env node
import { existsSync } from 'node:fs'

const bundle = new URL('../dist/qubix-worker.js', import.meta.url)
if (existsSync(bundle)) {
  await import(bundle.href)
} else {
  process.stderr.write('qubix-worker: the program is not built yet; run npm run build in the repository\n')
  process.exitCode = 1
}

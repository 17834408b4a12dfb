#!/usr/bin/env node
import { existsSync } from 'node:fs'

const bundle = new URL('../dist/trainforge-worker.js', import.meta.url)
if (existsSync(bundle)) {
  await import(bundle.href)
} else {
  process.stderr.write('trainforge-worker: the program is not built yet; run npm run build in the repository\n')
  process.exitCode = 1
}

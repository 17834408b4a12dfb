import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What the tests use besides Node and Python, and the Debian package that brings it. */
const TOOLS = {
  bwrap: 'bubblewrap',
  slirp4netns: 'slirp4netns',
  ip: 'iproute2',
  curl: 'curl',
  dockerd: 'docker.io',
  busybox: 'busybox-static',
  zsh: 'zsh',
  fish: 'fish',
}

const REPORTERS = ['--reporter=default', '--reporter=./tests/say-skipped.mjs', '--reporter=json']

installMissingTools()
run('node', ['build.mjs'])
process.exitCode = runTests(process.argv.slice(2))

function installMissingTools() {
  const missing = Object.keys(TOOLS).filter(tool => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0)
  if (missing.length === 0) return
  const packages = missing.map(tool => TOOLS[tool])
  if (process.getuid?.() !== 0 || spawnSync('sh', ['-c', 'command -v apt-get']).status !== 0) {
    console.log(
      `not installed, and this user may not install it: ${packages.join(', ')}; tests that need it are skipped and say so`,
    )
    return
  }
  console.log(`installing ${packages.join(', ')}`)
  const install = ['-o', 'DPkg::Lock::Timeout=600', 'install', '-y', '--no-install-recommends', ...packages]
  if (spawnSync('apt-get', install, { stdio: 'ignore' }).status === 0) return
  spawnSync('apt-get', ['update'], { stdio: 'ignore' })
  if (spawnSync('apt-get', install, { stdio: 'ignore' }).status !== 0)
    console.log(`could not install ${packages.join(', ')}`)
}

/** Runs every test and says in one line how it went; a skipped test counts as failed where CI is set. */
function runTests(args) {
  const folder = mkdtempSync(join(tmpdir(), 'stoker-tests-'))
  const report = join(folder, 'report.json')
  try {
    const vitest = spawnSync('npx', ['vitest', 'run', ...REPORTERS, `--outputFile.json=${report}`, ...args], {
      stdio: 'inherit',
    })
    const { numPassedTests, numFailedTests, numPendingTests, numTotalTests } = JSON.parse(readFileSync(report, 'utf8'))
    const skipped = numPendingTests + (numTotalTests - numPassedTests - numFailedTests - numPendingTests)
    const failed = numFailedTests + (process.env.CI === undefined ? 0 : skipped)
    console.log(`${numPassedTests} passed, ${failed} failed, ${skipped} skipped`)
    return vitest.status === 0 && failed === 0 ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(command, args) {
  const { status } = spawnSync(command, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { IMAGE } from '../../../tests/harness/engine.ts'
import { sharedEngine } from '../../../tests/harness/engine-shared.ts'
import { benchEngine } from './test-bench-engine.ts'
import { Workbench } from './workbench.ts'

const ROUNDS = 12
/** Measured below one; the margin is for a machine that does other things in the middle of a round. */
const MOST_RATIO = 1.5
const HARDENED =
  '--network none --read-only --tmpfs /tmp:rw,noexec,nosuid,nodev,size=64m --cap-drop ALL --security-opt no-new-privileges --user 65534:65534 --init --pids-limit 201'

it('a container job costs about what a bare docker run costs', async context => {
  const engine = await sharedEngine('docker')
  if (typeof engine === 'string') return context.skip(engine)
  if (spawnSync('docker', ['--version']).status !== 0) return context.skip('no docker command to compare with')
  const bench = await Workbench.open(benchEngine(engine))
  const executor = bench.executor()
  const ours: number[] = []
  const bare: number[] = []
  const args = [
    '-H',
    `unix://${engine.socket}`,
    'run',
    '--rm',
    '--pull',
    'never',
    ...HARDENED.split(' '),
    IMAGE,
    'true',
  ]
  for (let round = 0; round <= ROUNDS; round += 1) {
    const order = await bench.anOrder(['true'], { isolation: 'container' })
    ours.push(
      await taken(async () => {
        const execution = await executor.start(order)
        expect((await execution.ended).exitCode).toBe(0)
        await execution.release()
      }),
    )
    bare.push(await taken(() => expect(spawnSync('docker', args).status).toBe(0)))
  }
  const [mine, theirs] = [median(ours.slice(1)), median(bare.slice(1))]
  console.log(`a container job takes ${mine.toFixed(0)} ms, docker run ${theirs.toFixed(0)} ms (medians of ${ROUNDS})`)
  await bench.close()
  expect(mine / theirs).toBeLessThan(MOST_RATIO)
})

async function taken(work: () => unknown): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.POSITIVE_INFINITY
}

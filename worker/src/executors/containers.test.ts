import { it } from 'vitest'
import { sharedEngine } from '../../../tests/harness/engine-shared.ts'
import { describeResults } from './contract.ts'
import { describeEnds } from './contract-ends.ts'
import { benchEngine } from './test-bench-engine.ts'

const docker = await sharedEngine('docker')
const podman = await sharedEngine('podman')
if (typeof docker === 'string') it('containers on docker are not tried here', context => context.skip(docker))
if (typeof podman === 'string') console.log(podman)

for (const engine of [docker, podman]) {
  if (typeof engine === 'string') continue
  describeResults('container', benchEngine(engine))
  describeEnds('container', benchEngine(engine))
}

import { join } from 'node:path'
import { linkContract } from '../link-contract.ts'
import { ABILITIES, aMachine } from '../test-link-bench.ts'
import { NativeHub } from '../test-native-hub.ts'
import { NativeLink } from './native-link.ts'
import { SpoolFile } from './spool-file.ts'

linkContract({
  name: 'native',
  hub: () => new NativeHub(),
  make: ({ url }, { root, ...parts }) => ({
    link: new NativeLink({
      ...parts,
      ...{ hubUrl: url, secret: 'stw_test', join: null, spoolFile: new SpoolFile(join(root, 'spool.jsonl')) },
      introduction: {
        ...{ version: 'test', workerId: 'w', bootId: String(parts.now()), name: 'w', tags: [], maxJobs: 4, cpus: 4 },
        ...{ memoryBytes: 8 * 2 ** 30, window: 16, hardware: aMachine(), abilities: ABILITIES },
      },
      sources: { ...parts.sources, now: parts.now, everyMs: null },
      ...{ steadyNow: () => performance.now(), random: Math.random },
    }),
  }),
  cannot: { reoffer: 'the fence of an offer is never used twice: a job that runs again is another attempt' },
})

import type { JobSpecInput } from '@stoker/protocol'

const free = { resources: { cpus: 0 } }
const shell = (script: string): JobSpecInput => ({ command: ['sh', '-c', script], isolation: 'none', ...free })

/** Says something on both streams and reports progress, in a sandbox where the worker has one. */
const TALKER = `
import json, sys, time
for i in range(20):
    print(json.dumps({"event": "progress", "percent": 5 * i}), flush=True)
    print("a line of no importance", i, file=sys.stderr)
    time.sleep(0.01)
`

export const LONG_JOB: JobSpecInput = { command: ['sleep', '300'], isolation: 'none', ...free }

/** Twenty megabytes of output as fast as it comes. */
export const FLOOD_JOB = shell('yes this is a flood of lines that nobody will ever read | head -c 20000000')

/** What comes in one beat of the load: things that end well, end badly, speak, and leave something. */
export function beatOf(hasSandbox: boolean): JobSpecInput[] {
  return [
    ...Array.from({ length: 20 }, (): JobSpecInput => ({ type: 'noop' })),
    { command: ['/bin/true'], isolation: 'none', ...free },
    { command: ['/bin/true'], isolation: 'none', ...free },
    { command: ['python3', '-c', TALKER], ...(hasSandbox ? {} : { isolation: 'none' as const }), ...free },
    shell('echo it fails >&2; exit 3'),
    { ...shell('head -c 65536 /dev/urandom > out.bin; echo done'), outputs: ['out.bin'] },
  ]
}

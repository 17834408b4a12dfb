/** A job whose program says the time, so that whoever reads a line knows how long it was on its way. */
export function stampedJob(of: { readonly afterMs: number; readonly lines: number; readonly everyMs: number }) {
  const program = `
import time
time.sleep(${of.afterMs / 1000})
for i in range(${of.lines}):
    time.sleep(${of.everyMs / 1000})
    print(f"stamp {time.time() * 1000:.3f}", flush=True)
`
  return { command: ['python3', '-c', program], resources: { cpus: 0 } }
}

const STAMP = /stamp (\d+\.\d+)/g

/** The moments (ms since 1970) at which the lines in a text were written. */
export function stampsIn(text: string): number[] {
  return [...text.matchAll(STAMP)].map(([, stamp]) => Number(stamp))
}

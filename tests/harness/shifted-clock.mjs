import { readFileSync } from 'node:fs'

/** Loaded before a program: its wall clock is off by the milliseconds that stand in the named file, its monotonic one is not. */
const file = process.env.STOKER_TEST_CLOCK ?? ''
const RealDate = Date
const shiftMs = () => Number(readFileSync(file, 'utf8'))

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + shiftMs())
    else super(...args)
  }

  static now() {
    return RealDate.now() + shiftMs()
  }
}

import type { Gpu } from '@stoker/protocol'

const FORM = /^([1-9]\d?)(?:x([1-9]\d{0,3})GB)?$/i
const USUAL_GB = '24'

/** For trying placement on a machine without GPUs; every device says it is simulated, so none can pass for a real one. */
export function simulatedGpus(text: string): Gpu[] {
  const [, count, gigabytes = USUAL_GB] = FORM.exec(text.trim()) ?? []
  if (count === undefined)
    throw new Error(`simulated GPUs have the form <count> or <count>x<memory>GB such as 2 or 2x24GB, got "${text}"`)
  return Array.from({ length: Number(count) }, (_, index) => ({
    index,
    uuid: `SIM-${index}`,
    name: `Simulated GPU ${gigabytes} GB`,
    memoryMb: Number(gigabytes) * 1024,
    driver: null,
    simulated: true,
  }))
}

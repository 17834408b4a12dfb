export type Compatibility = 'recommended' | 'compatible' | 'borderline' | 'insufficient'

/** What a provider has and a job needs, in gigabytes. */
interface Amounts {
  readonly vramGb: number
  readonly ramGb: number
}

interface Fit {
  readonly compatibility: Compatibility
  readonly warnings: readonly string[]
}

/** How comfortably a job fits a provider; for one that also runs on a CPU the memory of the GPU does not count. */
export function compatibilityOf(has: Amounts, needs: Amounts, cpuPath: boolean): Fit {
  const vram = ratio(has.vramGb, needs.vramGb)
  const v = cpuPath ? Number.POSITIVE_INFINITY : vram
  const r = ratio(has.ramGb, needs.ramGb)
  const ignored =
    cpuPath && vram < 1.5
      ? [`runs on a CPU too, so the GPU memory (has ${has.vramGb} GB, wants ${needs.vramGb} GB) is not looked at`]
      : []
  if (v >= 1.5 && r >= 1.3) return { compatibility: 'recommended', warnings: ignored }
  if (v >= 1.2 && r >= 1.1) return { compatibility: 'compatible', warnings: ignored }
  if (v >= 1 && r >= 1) return { compatibility: 'borderline', warnings: [...ignored, tight(has, needs, cpuPath)] }
  return { compatibility: 'insufficient', warnings: [...ignored, ...missing(has, needs, cpuPath)] }
}

function ratio(has: number, needs: number): number {
  return needs <= 0 ? Number.POSITIVE_INFINITY : has / needs
}

function tight(has: Amounts, needs: Amounts, cpuPath: boolean): string {
  const memory = `${has.ramGb} GB of memory for ${needs.ramGb} GB`
  return cpuPath
    ? `hardly more than the job needs: ${memory}`
    : `hardly more than the job needs: ${has.vramGb} GB of GPU memory for ${needs.vramGb} GB, ${memory}`
}

function missing(has: Amounts, needs: Amounts, cpuPath: boolean): string[] {
  const words: string[] = []
  if (!cpuPath && has.vramGb < needs.vramGb)
    words.push(`needs ${needs.vramGb} GB of GPU memory, the provider has ${has.vramGb} GB`)
  if (has.ramGb < needs.ramGb) words.push(`needs ${needs.ramGb} GB of memory, the provider has ${has.ramGb} GB`)
  return words
}

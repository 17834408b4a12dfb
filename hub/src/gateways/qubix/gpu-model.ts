/** What old workers say when they found no GPU, or several: a real one of this kind says the same. */
const PLACEHOLDER_GPU = { model: 'MX150', vramGb: 4 }
const PLACEHOLDER_CPU = 'Intel Core i7-8550U'

/** `NVIDIA GeForce RTX 4090` is called `RTX 4090`; what tells cards apart, such as Ti, SUPER or Laptop, stays. */
export function gpuModelOf(told: string): string {
  return told
    .replace(/\b(NVIDIA|GeForce)\b/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

export function isPlaceholderGpu(told: string, vramGb: number): boolean {
  return gpuModelOf(told) === PLACEHOLDER_GPU.model && vramGb === PLACEHOLDER_GPU.vramGb
}

/** Whether measured memory is that of the placeholder, so that there is such a card after all; drivers keep some back. */
export function confirmsPlaceholder(vramTotalMb: number): boolean {
  const mb = PLACEHOLDER_GPU.vramGb * 1024
  return Math.abs(vramTotalMb - mb) <= mb * 0.05
}

export function isPlaceholderCpu(told: string): boolean {
  return told.includes(PLACEHOLDER_CPU)
}

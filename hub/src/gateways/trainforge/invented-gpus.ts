/** What a node without drivers says it has, to the letter; a real machine may have just these, so nobody can tell. */
const INVENTED = [
  { index: 0, name: 'NVIDIA GeForce RTX 3080', memoryMb: 10_240 },
  { index: 1, name: 'NVIDIA GeForce RTX 3090', memoryMb: 24_576 },
] as const

export interface SaidGpu {
  readonly index: number
  readonly name: string
  readonly memoryMb: number
}

export function arePossiblyInvented(gpus: readonly SaidGpu[]): boolean {
  return (
    gpus.length === INVENTED.length &&
    INVENTED.every(({ index, name, memoryMb }, place) => {
      const gpu = gpus[place]
      return gpu?.index === index && gpu.name === name && gpu.memoryMb === memoryMb
    })
  )
}

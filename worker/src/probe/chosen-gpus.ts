import { type Gpu, GpuDifficulty } from '@stoker/protocol'

type Environment = Readonly<Record<string, string | undefined>>

/** The devices this worker offers: those of GPU_DEVICE_IDS, or all, each with what GPU_DEVICE_DIFFICULTY says of its index. */
export function chosenGpus(gpus: readonly Gpu[], env: Environment): Gpu[] {
  const ids = commas(env.GPU_DEVICE_IDS)
  const difficulties = new Map(commas(env.GPU_DEVICE_DIFFICULTY).map(difficultyIn))
  const wrong = ids.find(id => !/^\d{1,4}$/.test(id))
  if (wrong !== undefined) throw new Error(`GPU_DEVICE_IDS is a list of indexes like "0,1", found "${wrong}"`)
  const offered = ids.length === 0 ? gpus : gpus.filter(({ index }) => ids.some(id => Number(id) === index))
  return offered.map(gpu => {
    const difficulty = difficulties.get(gpu.index)
    return difficulty === undefined ? gpu : { ...gpu, difficulty }
  })
}

function difficultyIn(pair: string): [number, GpuDifficulty] {
  const [, index, word] = /^(\d{1,4}):([a-z]+)$/.exec(pair) ?? []
  const difficulty = GpuDifficulty.safeParse(word)
  if (index === undefined || !difficulty.success)
    throw new Error(`GPU_DEVICE_DIFFICULTY is a list like "0:low,1:high", found "${pair}"`)
  return [Number(index), difficulty.data]
}

function commas(text: string | undefined): string[] {
  const parts = (text ?? '').split(',').map(part => part.replace(/\s/g, ''))
  return parts.filter(part => part !== '')
}

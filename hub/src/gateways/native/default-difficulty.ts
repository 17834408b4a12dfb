import type { GpuDifficulty, Hello } from '@stoker/protocol'

/** By the index of a device on its machine. */
export type Difficulties = ReadonlyMap<string, GpuDifficulty>

/** The same hello, with what the hub was told about devices of which their worker says nothing. */
export function withDifficulties(hello: Hello, difficulties: Difficulties): Hello {
  if (difficulties.size === 0) return hello
  const gpus = hello.hardware.gpus.map(gpu => {
    const difficulty = gpu.difficulty ?? difficulties.get(String(gpu.index))
    return difficulty === undefined ? gpu : { ...gpu, difficulty }
  })
  return { ...hello, hardware: { ...hello.hardware, gpus } }
}

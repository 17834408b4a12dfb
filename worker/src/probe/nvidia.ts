import type { Gpu } from '@stoker/protocol'
import { cellsOf, isGpuUuid, NVIDIA_SMI, numberIn } from './nvidia-csv.ts'
import { runTool, type ToolRun } from './run-tool.ts'

/** A first call after boot initialises every device without persistence mode, which takes seconds each. */
const TIMEOUT_MS = 15_000
const QUERY = ['--query-gpu=index,uuid,name,memory.total,driver_version', '--format=csv,noheader,nounits']

/** `note` says in words why devices, or facts about them, are missing. */
export interface NvidiaProbe {
  readonly gpus: Gpu[]
  readonly note: string | null
}

/** GPUs the driver still answers for are kept when it fails for another; nothing it did not print is made up. */
export async function probeNvidia(
  options: { readonly env?: NodeJS.ProcessEnv | undefined; readonly timeoutMs?: number | undefined } = {},
): Promise<NvidiaProbe> {
  const run = await runTool(NVIDIA_SMI, QUERY, { timeoutMs: options.timeoutMs ?? TIMEOUT_MS, env: options.env })
  const lines = run.stdout.split('\n').filter(line => line.trim() !== '')
  const gpus = lines.map(parseGpu).filter(gpu => gpu !== null)
  return { gpus, note: noteOn(run, lines, gpus) }
}

function parseGpu(line: string): Gpu | null {
  const [index, uuid, name, memory, driver] = cellsOf(line)
  const position = numberIn(index)
  if (position === null || !isGpuUuid(uuid) || !name) return null
  return {
    index: position,
    uuid,
    name,
    memoryMb: Math.round(numberIn(memory) ?? 0),
    driver: driver === undefined || driver.startsWith('[') ? null : driver,
    simulated: false,
  }
}

function noteOn(run: ToolRun, lines: readonly string[], gpus: readonly Gpu[]): string | null {
  const unread = lines.filter(line => parseGpu(line) === null)
  const unsized = gpus.filter(gpu => gpu.memoryMb === 0)
  const notes = [
    run.problem?.text,
    run.problem === null && unread.length > 0 ? `nvidia-smi also said: ${unread[0]?.trim()}` : undefined,
    run.problem === null && lines.length === 0 ? 'nvidia-smi runs and lists no GPU' : undefined,
    ...unsized.map(gpu => `GPU ${gpu.index} does not tell its memory size`),
  ].filter(note => note !== undefined)
  return notes.length === 0 ? null : notes.join('; ')
}

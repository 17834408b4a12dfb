/** Found on PATH, as the driver's installer leaves it. */
export const NVIDIA_SMI = 'nvidia-smi'

/** The cells of one line of `--format=csv,noheader,nounits`; no field nvidia-smi prints there holds a comma. */
export function cellsOf(line: string): readonly string[] {
  return line.split(',').map(cell => cell.trim())
}

/** A cell the driver cannot fill says so in words ([N/A], [Not Supported], ERR!): that is null, never zero. */
export function numberIn(cell: string | undefined): number | null {
  return cell !== undefined && /^\d+(\.\d+)?$/.test(cell) ? Number(cell) : null
}

/** Whole GPUs only: these are the devices one line each is printed for. */
export function isGpuUuid(cell: string | undefined): cell is string {
  return cell?.startsWith('GPU-') ?? false
}

const FRAMEWORKS = ['torch', 'tensorflow', 'jax', 'cupy', 'keras', 'lightning', 'pytorch_lightning', 'transformers']
const IMPORT = new RegExp(`^[ \\t]*(?:import|from)[ \\t]+(?:[\\w.]+[ \\t]*,[ \\t]*)*(${FRAMEWORKS.join('|')})\\b`, 'm')

/** The framework that Python sources use and that is made for GPUs; null if they use none. */
export function gpuFramework(source: string): string | null {
  return IMPORT.exec(source)?.[1] ?? null
}

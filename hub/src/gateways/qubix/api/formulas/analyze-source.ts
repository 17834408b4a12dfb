import type { JobType } from '@stoker/protocol'
import { type Framework, type Needs, needsOf } from './needs.ts'

export type Confidence = 'high' | 'medium' | 'low'

export interface Analysis {
  readonly jobType: Extract<JobType, 'mnist_training' | 'stable_diffusion' | 'inference' | 'custom_script'>
  readonly detectedFramework: Framework
  readonly needs: Needs
  readonly confidence: Confidence
}

export type SourceForm = 'python' | 'notebook' | 'dockerfile'

/** Null: nothing is known of such files. */
export function formOf(fileName: string): SourceForm | null {
  const name = fileName.split(/[/\\]/).at(-1)?.toLowerCase() ?? ''
  if (name.endsWith('.py')) return 'python'
  if (name.endsWith('.ipynb')) return 'notebook'
  return name === 'dockerfile' || name.startsWith('dockerfile.') || name.endsWith('.dockerfile') ? 'dockerfile' : null
}

const FRAMEWORKS: readonly (readonly [Exclude<Framework, 'none'>, RegExp])[] = [
  ['pytorch', /\b(torch|torchvision|torchaudio|pytorch|pytorch_lightning|lightning)\b/],
  ['tensorflow', /\b(tensorflow|keras)\b/],
  ['jax', /\b(jax|jaxlib|flax)\b/],
]
/** A line that brings something in; in a notebook that was cut it stands in quotes. */
const IMPORT = /^[ \t"]*(?:import|from)[ \t]/
const INSTALL = /^[ \t]*from[ \t]|\binstall[ \t]/i
/** Nobody writes longer ones, and patterns stay quick. */
const LONGEST_LINE = 2000
const MNIST = /mnist/i
const DIFFUSION = /\bdiffusers\b|stable[ _-]?diffusion/i
const INFERENCE =
  /\.eval\(|\.predict\(|\.generate\(|\bpipeline\(|\bno_grad\(|\binference_mode\(|\bload_model\(|\binference\b/i
const TRAINING = /\.train\(|\.fit\(|\.backward\(|\boptim(?:izer)?\b|\bepochs?\b|\bTrainer\(/i
const CUDA = /cuda|nvidia/i
const DOCKER_VRAM_GB = { withCuda: 8, without: 4 }
const NOTEBOOK_RAM_GB = { least: 4, perMb: 10 }

/** What a file is for, by what it brings in and what it calls. `bytes` counts all of it, of which `text` may be the beginning. */
export function analyzeSource(form: SourceForm, text: string, bytes: number): Analysis {
  const framework = frameworkOf(form, text)
  const [doesInfer, doesTrain] = [INFERENCE.test(text), TRAINING.test(text)]
  const named = MNIST.test(text) ? 'mnist_training' : DIFFUSION.test(text) ? 'stable_diffusion' : null
  const jobType = named ?? (doesInfer && !doesTrain ? 'inference' : 'custom_script')
  return {
    jobType,
    detectedFramework: framework,
    needs: needsOf(jobType, framework, knownOf(form, text, bytes)),
    confidence: framework !== 'none' || named !== null ? 'high' : doesInfer || doesTrain ? 'medium' : 'low',
  }
}

function frameworkOf(form: SourceForm, text: string): Framework {
  const brings = form === 'dockerfile' ? INSTALL : IMPORT
  const lines = text
    .split('\n')
    .filter(line => line.length <= LONGEST_LINE && brings.test(line))
    .join('\n')
  return FRAMEWORKS.find(([, pattern]) => pattern.test(lines))?.[0] ?? 'none'
}

function knownOf(form: SourceForm, text: string, bytes: number): Partial<Needs> {
  if (form === 'dockerfile') return { vramGb: CUDA.test(text) ? DOCKER_VRAM_GB.withCuda : DOCKER_VRAM_GB.without }
  if (form === 'notebook')
    return { ramGb: Math.max(NOTEBOOK_RAM_GB.least, Math.ceil((NOTEBOOK_RAM_GB.perMb * bytes) / 1e6)) }
  return {}
}

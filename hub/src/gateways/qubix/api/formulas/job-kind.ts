import type { JobType } from '@stoker/protocol'

/** What the tables of needs and times tell apart. */
export type JobKind = 'mnist_training' | 'stable_diffusion' | 'inference' | 'rendering' | 'custom_script' | 'other'

/** Names that mean a type of ours without being its name. */
const OTHER_NAMES: Readonly<Record<string, JobType>> = {
  custom: 'custom_script',
  script: 'custom_script',
  custom_script: 'custom_script',
  'custom-script': 'custom_script',
  'llm-inference': 'inference',
  inference: 'inference',
  'image-generation': 'stable_diffusion',
  training: 'training',
  'fine-tuning': 'fine-tuning',
  fine_tuning: 'fine-tuning',
  finetuning: 'fine-tuning',
  generic: 'compute',
  compute: 'compute',
}

/** Every name a client may use, for a refusal. */
export const KNOWN_NAMES: readonly string[] = ['mnist_training', 'stable_diffusion', ...Object.keys(OTHER_NAMES)]

/** The type a client means by a word; null where nothing of ours would compute what the word promises. */
export function typeOf(word: string): JobType | null {
  const said = word.trim().toLowerCase()
  if (said.includes('mnist')) return 'mnist_training'
  if (said.includes('stable') || said.includes('diffusion')) return 'stable_diffusion'
  return Object.hasOwn(OTHER_NAMES, said) ? (OTHER_NAMES[said] ?? null) : null
}

export function kindOf(word: string): JobKind {
  const type = typeOf(word)
  switch (type) {
    case 'mnist_training':
    case 'stable_diffusion':
    case 'inference':
    case 'custom_script':
      return type
    default:
      return word.trim().toLowerCase() === 'rendering' ? 'rendering' : 'other'
  }
}

/** Work that also runs without a GPU, only slower. */
export function hasCpuPath(kind: JobKind): boolean {
  return kind !== 'stable_diffusion' && kind !== 'rendering'
}

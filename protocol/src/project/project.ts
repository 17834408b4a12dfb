/** What a project starts: a Python script with its words, or a line for a shell. */
export type ProjectProgram =
  | { readonly script: string; readonly args: readonly string[] }
  | { readonly script: null; readonly shell: string }

/** A project as trainforge.yaml describes it, whichever of its forms was used. */
export interface Project {
  /** A: in sections; B: with resources below `training`; C: flat. */
  readonly form: 'A' | 'B' | 'C'
  readonly name: string
  /** As it was written. */
  readonly config: Readonly<Record<string, unknown>>
  readonly program: ProjectProgram
  /** A shell line that prepares every start. */
  readonly setup: string | null
  /** `isNamed`: the configuration names it, so it must be there unless it is the usual one. */
  readonly requirements: { readonly file: string; readonly isNamed: boolean } | null
  readonly packages: readonly string[]
  readonly resources: ProjectResources
  /** How many processes of this size there are, all on one machine. */
  readonly workers: number
  readonly python: string | null
  readonly image: string | null
  readonly env: Readonly<Record<string, string>>
  /** Patterns of what is kept. */
  readonly outputs: readonly string[]
  readonly retries: number | null
  readonly timeoutSeconds: number | null
}

export interface ProjectResources {
  /** Null: nobody said, so the sources tell. */
  readonly gpus: number | null
  readonly cpus: number
  readonly memoryBytes: number
}

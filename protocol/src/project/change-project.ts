import { isMap } from './config-notes.ts'

/** What may be said beside a configuration, and counts more than it. */
export interface ProjectChanges {
  readonly name?: string | undefined
  readonly resources?: Readonly<Record<string, unknown>> | undefined
  readonly workers?: number | undefined
}

/** A configuration of any form with these in place of its own; what is no configuration stays as it is. */
export function changeProject(config: unknown, { name, resources, workers }: ProjectChanges): unknown {
  if (!isMap(config)) return config
  const isFlat = !('project' in config || 'training' in config)
  return {
    ...config,
    ...(name === undefined ? {} : isFlat ? { name } : { project: { ...mapOf(config.project), name } }),
    ...(resources === undefined ? {} : { resources }),
    ...(workers === undefined
      ? {}
      : { distributed: { ...mapOf(config.distributed), mode: 'distributed', max_workers: workers } }),
  }
}

function mapOf(value: unknown): object {
  return isMap(value) ? value : {}
}

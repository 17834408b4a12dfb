import type { ActionEntry } from './preset-files.ts'

/** The line that builds the image of a preset from its sources; null if it names none. */
export function buildCommand({ docker_image, source_path, dockerfile, build_args = {} }: ActionEntry): string | null {
  if (docker_image === undefined || source_path === undefined) return null
  const file = dockerfile === undefined || dockerfile === 'Dockerfile' ? [] : ['-f', `${source_path}/${dockerfile}`]
  const args = Object.entries(build_args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`])
  return ['docker', 'build', '-t', docker_image, ...file, ...args, source_path].map(quoted).join(' ')
}

/** What to do where no worker has the image. */
export function missingImage(program: ActionEntry): string {
  const build = buildCommand(program)
  const image = program.docker_image ?? ''
  if (build !== null) return `no worker has ${image}; build it on one of them: ${build}`
  const pulled = program.pull === 'never' ? '' : ', unless a worker can pull it'
  return `no worker has ${image}${pulled}; carry it to one: docker save ${quoted(image)} | ssh WORKER docker load`
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

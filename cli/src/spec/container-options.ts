import { type Command, InvalidArgumentError, Option } from 'commander'

interface Mount {
  readonly source: string
  readonly target: string
  readonly readOnly: boolean
}

export interface ContainerOptions {
  readonly image?: string
  readonly pull?: string
  readonly mount?: readonly Mount[]
  readonly shm?: string
  readonly tmp?: string
  readonly user?: string
  readonly workdir?: string
  readonly writableRoot?: boolean
}

/** What can be said of a container on the command line. */
export function withContainerOptions(command: Command): Command {
  return command
    .option('--image <image>', 'run in a container of this image; without a program: what the image starts')
    .addOption(new Option('--pull <when>', 'when the image is fetched').choices(['missing', 'never', 'always']))
    .option('--mount <SRC:DST[:rw]>', "a folder of the worker's machine in the container (repeatable)", gatherMount)
    .option('--shm <size>', 'shared memory of the container, like 1GB')
    .option('--tmp <size>', '/tmp of the container (64MiB)')
    .option('--user <user[:group]>', 'user in the container (one without rights)')
    .option('--workdir <folder>', 'where the program starts (/work); "image": where the image says')
    .option('--writable-root', 'let the program write anywhere in the container')
}

/** As fields of a spec; undefined ones were not given. */
export function containerFields(
  spec: Readonly<Record<string, unknown>>,
  { image, pull, mount, shm, tmp, user, workdir, writableRoot }: ContainerOptions,
): Readonly<Record<string, unknown>> {
  const own = Object.entries({ shm, tmp, user, workdir, writableRoot }).filter(([, value]) => value !== undefined)
  const { container, mounts } = spec
  const isObject = typeof container === 'object' && container !== null
  return {
    image: image ?? spec.image,
    pull: pull ?? spec.pull,
    container: own.length === 0 ? container : { ...(isObject ? container : {}), ...Object.fromEntries(own) },
    mounts: mount === undefined ? mounts : [...(Array.isArray(mounts) ? mounts : []), ...mount],
  }
}

function gatherMount(text: string, before: readonly Mount[] = []): Mount[] {
  const [, source, target, mode] = /^(\/[^:]*):(\/[^:]*)(?::(ro|rw))?$/.exec(text) ?? []
  if (source === undefined || target === undefined)
    throw new InvalidArgumentError('It should look like /SOURCE:/TARGET, or /SOURCE:/TARGET:rw.')
  return [...before, { source, target, readOnly: mode !== 'rw' }]
}

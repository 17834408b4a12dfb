export interface ContainerFacts {
  readonly image: string
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly models: string | null
  readonly terminal: boolean
}

const NOBODY = 65534
const PRIVATE = 'nosuid,nodev'

/** The container a worker makes by default, with all its hardening: no network, no root, nothing to write on but /tmp and /work. */
export function containerBody({ image, words, env, models, terminal }: ContainerFacts): unknown {
  return {
    Image: image,
    ...(words.length === 0 ? {} : { Cmd: words }),
    User: `${NOBODY}:${NOBODY}`,
    WorkingDir: '/work',
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Hostname: 'job',
    Labels: { 'stoker.check': 'true' },
    AttachStdin: !terminal,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: !terminal,
    StdinOnce: !terminal,
    Tty: terminal,
    HostConfig: {
      NetworkMode: 'none',
      Init: true,
      AutoRemove: false,
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      PidsLimit: 256,
      LogConfig: { Type: 'none', Config: {} },
      Tmpfs: {
        '/tmp': `rw,noexec,${PRIVATE},size=64m`,
        '/work': `rw,exec,${PRIVATE},uid=${NOBODY},gid=${NOBODY}`,
        ...(models === null ? { '/models': `ro,${PRIVATE},size=4k` } : {}),
      },
      ...(models === null ? {} : { Binds: [`${models}:/models:ro`] }),
    },
  }
}

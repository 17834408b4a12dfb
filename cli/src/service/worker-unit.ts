/** What the service of a worker needs to know. */
export interface WorkerService {
  /** The program and its arguments. */
  readonly words: readonly string[]
  readonly environmentFile: string
  /** Where the worker looks for Python, bubblewrap and nvidia-smi. */
  readonly path: string
  readonly scope: 'system' | 'user'
}

/**
 * The text of a systemd unit. Only the worker itself is stopped with it (its keepers and programs live on over a restart),
 * a program that runs out of memory does not end it, and nothing hides parts of /proc, without which no sandbox can be made.
 */
export function workerUnit({ words, environmentFile, path, scope }: WorkerService): string {
  const isSystem = scope === 'system'
  return `[Unit]
Description=Stoker worker
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${words.map(text => word(text.replaceAll('$', '$$$$'))).join(' ')}
EnvironmentFile=-${environmentFile.replaceAll('%', '%%')}
Environment=${word(`PATH=${path}`)}
Restart=always
RestartSec=5
KillMode=process
TimeoutStopSec=30
OOMPolicy=continue
Delegate=yes
LimitNOFILE=65536
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
${isSystem ? 'ProtectSystem=full\nProtectKernelModules=yes\n' : ''}
[Install]
WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}
`
}

/** One word to systemd, whatever is in it. */
function word(text: string): string {
  const escaped = text.replaceAll('%', '%%')
  return /^[\w@%+=:,./$-]+$/.test(escaped) ? escaped : `"${escaped.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workerUnit } from './worker-unit.ts'

const SERVICE = {
  words: ['/usr/bin/env', 'worker.js', '--hub', 'https://10.0.0.1:7443', '--name', 'my "box" 100% $HOME'],
  environmentFile: '/home/ann/my data/worker.env',
  path: '/usr/local/bin:/usr/bin',
} as const

test('a unit leaves keepers and programs alone, starts again, and keeps its secrets in a file', () => {
  expect(workerUnit({ ...SERVICE, scope: 'system' })).toBe(`[Unit]
Description=Stoker worker
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=/usr/bin/env worker.js --hub https://10.0.0.1:7443 --name "my \\"box\\" 100%% $$HOME"
EnvironmentFile=-/home/ann/my data/worker.env
Environment=PATH=/usr/local/bin:/usr/bin
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
ProtectSystem=full
ProtectKernelModules=yes

[Install]
WantedBy=multi-user.target
`)
  const user = workerUnit({ ...SERVICE, scope: 'user' })
  expect(user).toContain('WantedBy=default.target')
  expect(user).not.toContain('Protect')
})

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0
if (!hasAnalyze) process.stdout.write('skipped: systemd-analyze is not on this machine\n')

test.runIf(hasAnalyze)('systemd itself finds nothing wrong with a unit of either kind', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stoker-unit-'))
  try {
    for (const scope of ['system', 'user'] as const) {
      const file = join(folder, `stoker-worker-${scope}.service`)
      await writeFile(file, workerUnit({ ...SERVICE, scope }))
      const checked = spawnSync('systemd-analyze', ['verify', '--man=no', '--generators=no', file], {
        encoding: 'utf8',
      })
      const about = checked.stderr.split('\n').filter(line => line.includes('stoker-worker'))
      expect({ status: checked.status, about }).toEqual({ status: 0, about: [] })
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

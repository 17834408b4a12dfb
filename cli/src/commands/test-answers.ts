import type {
  Explanation,
  GroupDetail,
  Owner,
  PresetDetail,
  ScheduleDetail,
  SessionView,
  Worker,
  WorkerDetail,
} from '@stoker/protocol'
import { aJob, asJob } from '../../../client/src/test-hub.ts'

const NOW = '2026-01-01T00:00:00.000Z'
export const ended = aJob({ state: 'failed', exitCode: 1, reason: 'exited with code 1', startedAt: NOW, endedAt: NOW })
const waitingFor = {
  dependencies: [{ job: ended.id, on: 'end' as const, state: 'active' as const }],
  unmet: 3,
  heldBy: 'ann',
  retryAt: null,
}
export const waiting = aJob({ state: 'waiting', reason: 'held by ann', waitingFor })
const worker: Worker = {
  id: 'w-1',
  name: 'box',
  state: 'ready',
  version: '0.1.0',
  tags: ['a100'],
  maxJobs: 4,
  running: 1,
  cpus: { total: 8, claimed: 1 },
  memoryBytes: { total: 16e9, claimed: 0 },
  gpus: { total: 1, claimed: 0, out: 0 },
  simulated: true,
  dialect: 'native',
  engine: null,
  registeredAt: NOW,
  lastSeenAt: NOW,
}
const gpu = { index: 0, uuid: 'GPU-1', name: 'Test GPU', memoryMb: 24_000, driver: null, simulated: true }
const device = {
  ...{ uuid: 'GPU-1', index: 0, name: 'Test GPU', memoryMb: 24_000, simulated: true, workers: ['box'] },
  ...{ claims: 0, claimedMb: 0, foreignMb: 2048, fault: null },
  quarantine: { reason: 'its fan is loud', by: 'ann', at: NOW },
}
const detail: WorkerDetail = {
  ...worker,
  hardware: {
    cpuModel: 'Test CPU',
    cores: 8,
    memoryBytes: 16e9,
    disk: { freeBytes: 1, totalBytes: 2 },
    hostname: 'box',
    os: 'Linux',
    arch: 'x64',
    pythons: [],
    gpus: [gpu],
    gpuNote: null,
  },
  devices: [device],
  abilities: {
    executors: ['inline', 'process'],
    sandbox: true,
    unsandboxed: true,
    internet: true,
    hostNetwork: false,
    note: null,
  },
  samples: [],
  attempts: [{ job: ended.id, attempt: 1, state: 'running', gpus: [] }],
}
export const group: GroupDetail = {
  id: '01890000-0000-7000-8000-00000000000a',
  name: 'sweep',
  owner: 'ann',
  size: 3,
  maxParallel: 2,
  retryOf: null,
  submittedAt: NOW,
  endedAt: NOW,
  counts: { waiting: 0, queued: 0, active: 0, succeeded: 2, failed: 1, canceled: 0, timed_out: 0 },
  failures: [asJob(ended)],
}
export const session: SessionView = {
  id: '01890000-0000-7000-8000-00000000000c',
  ...{ name: 'echo', state: 'working', reason: null, owner: 'ann', preset: 'm/p', gpus: ['GPU-1'] },
  worker: { id: 'w-1', name: 'box' },
  ...{ concurrency: 2, working: [ended.id], queued: 1, queue: 5 },
  ...{ createdAt: NOW, readyAt: NOW, lastActivityAt: NOW, endedAt: null },
  ...{ idleTimeoutSeconds: 300, maxLifetimeSeconds: 3600, restarts: 1, attempts: 1 },
}
export const schedule: ScheduleDetail = {
  id: '01890000-0000-7000-8000-00000000000b',
  ...{ name: 'nightly', owner: 'ann', cron: '0 3 * * *', timezone: 'UTC', overlap: 'skip', catchUp: 'none' },
  enabled: true,
  createdAt: NOW,
  nextAt: NOW,
  runs: 1,
  last: { at: NOW, outcome: 'submitted', reason: null },
  lastJob: ended.id,
  lastGroup: null,
  spec: { type: 'noop' },
}
const preset: PresetDetail = {
  ...{ name: 'echo/chat', model: 'echo', description: 'says it again', type: 'session', serves: 'chat' },
  ...{
    difficulty: null,
    timeoutSeconds: 300,
    image: 'echo',
    relaxed: ['user root'],
    file: 'model_presets.yaml',
    line: 3,
  },
  imageMissing: 'no worker has echo; build it on one of them: docker build -t echo /src',
  sessions: {
    ...{ concurrency: 2, queue: 5, idleTimeoutSeconds: 300, maxLifetimeSeconds: 3600, restarts: 0, min: 0, max: 2 },
    ...{ live: 1, lastError: 'exited with code 3', nextStartAt: NOW },
  },
  spec: { image: 'echo', command: ['serve', '--fast'] },
  build: { sourcePath: '/src', dockerfile: null, args: {}, command: 'docker build -t echo /src' },
}
const mistake = { file: 'model_presets.yaml', line: 7, column: 5, message: 'unknown key "comand"' }
const explanation: Explanation = {
  job: { id: ended.id, name: 'x', state: 'queued', owner: 'ann', priority: 0 },
  summary: '2 of 3 known workers could run it, none of them now',
  waitingFor: null,
  reasons: [
    {
      when: 'notNow',
      codes: ['busy.gpus'],
      text: 'needs 2 of the 4 GPUs of each that suit it, 1 are free and 3 taken by jobs',
      workers: { count: 7, names: ['a', 'b', 'c', 'd', 'e'] },
      closest: null,
      job: null,
    },
    {
      when: 'never',
      codes: ['cpus.total'],
      text: 'needs 8 CPUs, box has 4',
      workers: { count: 2, names: ['box', 'nut'] },
      closest: 'box',
      job: null,
    },
  ],
  position: { ahead: 1212, isExact: false },
  start: { p50: NOW, p90: NOW, basis: 'from 212 runs of such jobs', runs: 212 },
  changes: [
    {
      kind: 'spec',
      text: 'with 1 GPU instead of 2',
      edits: [{ field: 'resources.gpus', from: 2, to: 1 }],
      worker: 'a',
    },
    {
      kind: 'resume',
      text: 'worker nut resumed',
      edits: [{ field: 'worker', from: 'draining', to: 'nut' }],
      worker: 'nut',
    },
  ],
}
const limits = { queued: 5, running: null, gpus: 2, bytes: 1e10 }
const owner: Owner = { owner: 'ann', counts: group.counts, running: 1, bytes: 5, gpus: 1, limits }
const token = { id: 't-1', role: 'submit', owner: 'ann', label: '', createdAt: NOW, expiresAt: null, usedBy: null }

const secret = { name: 'HF_TOKEN', owner: 'ann', bytes: 10, createdAt: NOW, changedAt: NOW }
export const deed = {
  id: '01890000-0000-7000-8000-000000000001',
  at: NOW,
  by: { tokenId: 't-1', label: 'laptop', owner: 'ann', role: 'admin' },
  from: '127.0.0.1',
  action: 'POST /api/v1/workers/:id/drain',
  target: 'box',
  details: {},
  status: 200,
}
const plain = { url: 'http://127.0.0.1:7070', pin: null, selfSigned: false, remembered: false, error: null }
const listeners = [
  { ...plain, name: '127.0.0.1:7070' },
  { ...plain, name: '0.0.0.0:7443', url: 'https://0.0.0.0:7443', pin: `sha256/${'A'.repeat(43)}=`, selfSigned: true },
]
const part = { count: 2, bytes: 5_000 }
const GC = { jobs: { count: 1 }, logs: part, artifacts: part, content: part, uploads: part }

/** What a hub says to each command, by its route. */
export const ANSWERS: Readonly<Record<string, readonly [number, unknown]>> = {
  'POST /api/v1/jobs/:id/cancel': [202, { effect: 'stopping', job: asJob(ended) }],
  'POST /api/v1/jobs/:id/hold': [200, asJob(waiting)],
  'POST /api/v1/jobs/:id/release': [200, asJob(waiting)],
  'PATCH /api/v1/jobs/:id': [200, asJob(waiting)],
  'POST /api/v1/jobs/:id/retry': [201, { jobs: [{ id: aJob().id, unschedulable: null }] }],
  'GET /api/v1/workers': [200, { workers: [worker] }],
  'GET /api/v1/workers/box': [200, detail],
  'GET /api/v1/gc': [200, GC],
  'POST /api/v1/gc': [200, GC],
  'POST /api/v1/workers/box/drain': [200, { ...worker, state: 'draining' }],
  'POST /api/v1/workers/box/resume': [200, worker],
  'POST /api/v1/devices/GPU-1/quarantine': [200, device],
  'DELETE /api/v1/devices/GPU-1/quarantine': [204, undefined],
  'POST /api/v1/tokens': [201, { ...token, secret: 'stk_secret' }],
  'GET /api/v1/tokens': [200, { tokens: [token] }],
  'DELETE /api/v1/tokens/:id': [204, undefined],
  'GET /api/v1/groups': [200, { groups: [group], next: 'more' }],
  'GET /api/v1/groups/:id': [200, group],
  'POST /api/v1/groups/:id/cancel': [202, { canceled: 1, stopping: 2, group }],
  'POST /api/v1/groups/:id/retry': [
    201,
    {
      jobs: [{ id: ended.id, unschedulable: null }],
      groups: [{ id: group.id, name: 'sweep', first: 0, size: 1 }],
    },
  ],
  'GET /api/v1/sessions': [200, { sessions: [session], next: null }],
  'POST /api/v1/sessions': [201, session],
  'GET /api/v1/sessions/:id': [200, session],
  'DELETE /api/v1/sessions/:id': [202, { effect: 'stopping', session }],
  'POST /api/v1/sessions/:id/keepalive': [200, session],
  'POST /api/v1/sessions/:id/tasks': [201, asJob(waiting)],
  'GET /api/v1/schedules': [200, { schedules: [schedule], next: null }],
  'POST /api/v1/schedules': [201, schedule],
  'GET /api/v1/schedules/nightly': [200, schedule],
  'PATCH /api/v1/schedules/nightly': [200, { ...schedule, enabled: false, nextAt: null }],
  'DELETE /api/v1/schedules/nightly': [204, undefined],
  'POST /api/v1/schedules/nightly/run': [201, schedule],
  'GET /api/v1/presets': [200, { folder: '/p', presets: [preset], errors: [mistake], next: null }],
  'GET /api/v1/presets/echo%2Fchat': [200, preset],
  'GET /api/v1/owners': [200, { owners: [owner], next: null }],
  'GET /api/v1/owners/ann': [200, owner],
  'PUT /api/v1/owners/ann/limits': [200, limits],
  'PUT /api/v1/secrets/:id': [200, secret],
  'GET /api/v1/secrets': [200, { secrets: [secret], next: null }],
  'DELETE /api/v1/secrets/:id': [204, undefined],
  'POST /api/v1/secret-key/rotate': [200, { key: 'k2', resealed: 3 }],
  'GET /api/v1/audit': [200, { entries: [deed], next: null }],
  'GET /api/v1/listeners': [200, { listeners, addresses: ['10.0.0.5'] }],
  'POST /api/v1/listeners': [201, listeners[1]],
  'DELETE /api/v1/listeners/:id': [204, undefined],
  'GET /api/v1/jobs/:id/explain': [200, explanation],
  'GET /api/v1/me': [200, { owner: 'ann', role: 'submit', tokenId: 't-1' }],
  'GET /health': [200, { status: 'ok', version: '9', epoch: 3, startedAt: NOW, workers: { connected: 1, total: 1 } }],
}

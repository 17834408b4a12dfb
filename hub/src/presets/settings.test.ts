import { expect, test } from 'vitest'
import { readSettings } from './settings.ts'

test('what the environment leaves out has the documented value', () => {
  expect(readSettings({ MAX_TASK_TIMEOUT: '', CORS_ORIGINS: ' ' })).toEqual({
    defaultTimeoutMs: 300_000,
    maxTimeoutMs: 1_800_000,
    taskMemoryBytes: null,
    taskCpus: 1,
    sessionIdleMs: 300_000,
    sessionLifetimeMs: 3_600_000,
    sessionQueue: 5,
    sessionMonitorMs: 30_000,
    internalApiKey: null,
    corsOrigins: [],
    deviceDifficulty: new Map(),
  })
})

test('every variable is read', () => {
  const settings = readSettings({
    DEFAULT_TASK_TIMEOUT: '60',
    MAX_TASK_TIMEOUT: '86400',
    TASK_MEMORY_LIMIT: '16g',
    TASK_CPU_QUOTA: '250000',
    SESSION_IDLE_TIMEOUT_SECONDS: '0.5',
    SESSION_MAX_LIFETIME_SECONDS: '7200',
    SESSION_QUEUE_MAX_SIZE: '0',
    SESSION_MONITOR_INTERVAL: '1',
    INTERNAL_API_KEY: 'k',
    CORS_ORIGINS: 'https://a.example, http://localhost:3000',
    GPU_DEVICE_DIFFICULTY: '0:low, 1:high',
  })
  expect(settings).toEqual({
    defaultTimeoutMs: 60_000,
    maxTimeoutMs: 86_400_000,
    taskMemoryBytes: 16 * 2 ** 30,
    taskCpus: 2.5,
    sessionIdleMs: 500,
    sessionLifetimeMs: 7_200_000,
    sessionQueue: 0,
    sessionMonitorMs: 1000,
    internalApiKey: 'k',
    corsOrigins: ['https://a.example', 'http://localhost:3000'],
    deviceDifficulty: new Map([
      ['0', 'low'],
      ['1', 'high'],
    ]),
  })
  expect(readSettings({ TASK_MEMORY_LIMIT: '512M' }).taskMemoryBytes).toBe(512 * 2 ** 20)
  expect(readSettings({ TASK_MEMORY_LIMIT: '24GB' }).taskMemoryBytes).toBe(24e9)
})

test.each([
  ['DEFAULT_TASK_TIMEOUT', 'soon', 'DEFAULT_TASK_TIMEOUT is a number of seconds above 0, found "soon"'],
  ['DEFAULT_TASK_TIMEOUT', '3600', 'DEFAULT_TASK_TIMEOUT is 3600 s, above MAX_TASK_TIMEOUT, which is 1800 s'],
  ['MAX_TASK_TIMEOUT', '-1', 'MAX_TASK_TIMEOUT is a number of seconds above 0'],
  ['TASK_MEMORY_LIMIT', 'much', 'TASK_MEMORY_LIMIT is a size of 1 MiB or more like "16g", found "much"'],
  ['TASK_MEMORY_LIMIT', '16', 'found "16"'],
  ['TASK_CPU_QUOTA', '1', 'TASK_CPU_QUOTA is a whole number of 1000 or more, found "1"'],
  ['SESSION_QUEUE_MAX_SIZE', '1.5', 'SESSION_QUEUE_MAX_SIZE is a whole number of 0 or more, found "1.5"'],
  ['SESSION_MONITOR_INTERVAL', 'Infinity', 'found "Infinity"'],
  ['CORS_ORIGINS', 'app.example', 'CORS_ORIGINS is a list of origins'],
  ['GPU_DEVICE_DIFFICULTY', '0:low,1:middling', 'found "1:middling"'],
])('%s=%s is refused with what was found', (name, value, why) => {
  expect(() => readSettings({ [name]: value })).toThrow(why)
})

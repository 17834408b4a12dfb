import { readdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { Cleanups } from '../cleanups.ts'
import { type Ground, Stage } from '../measures/ground.ts'
import { BeanstalkPeer } from './beanstalkd.ts'
import { CeleryPeer } from './celery.ts'
import { PgBossPeer } from './pg-boss.ts'
import { SlurmPeer } from './slurm.ts'
import { TaskSpooler } from './task-spooler.ts'

const BARE: Ground = {
  say: () => {},
  soakMinutes: 1,
  scratch: '/nowhere',
  bundles: { distFolder: '/nowhere', profileFolder: null },
  redis: { notMeasured: 'redis-server is not installed' },
  postgres: { notMeasured: 'PostgreSQL is not installed' },
  path: '/nowhere',
}

describe('on a machine without them', () => {
  const stage = new Stage(BARE, new Cleanups())

  it('each peer says what is missing, and starts nothing', async () => {
    expect(await PgBossPeer.open(stage, BARE, 'q')).toEqual({ notMeasured: 'PostgreSQL is not installed' })
    expect(await CeleryPeer.open(stage, BARE)).toEqual({ notMeasured: 'redis-server is not installed' })
    expect(await BeanstalkPeer.open(stage, BARE)).toEqual({ notMeasured: 'beanstalkd is not installed' })
    expect(await TaskSpooler.open(stage, BARE)).toEqual({ notMeasured: 'task-spooler is not installed' })
    expect(await readdir('/nowhere').catch(() => 'not there')).toBe('not there')
  })

  it('Slurm is missing where its daemons are', async () => {
    const slurm = await SlurmPeer.open(stage, BARE, { slots: 1, node: false })
    expect(slurm).toMatchObject({ notMeasured: expect.stringMatching(/not installed/) })
  })
})

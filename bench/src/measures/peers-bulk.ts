import { PgBossPeer } from '../peers/pg-boss.ts'
import { SlurmPeer } from '../peers/slurm.ts'
import { batchRate } from '../submit-in-batches.ts'
import { opened, raceBeside, turn } from './beside.ts'
import type { Measure } from './ground.ts'

const JOBS = 10_000

/** A thousand jobs by one call, to houses without a worker; the other peers take jobs one by one only. */
export const measurePeersBulk: Measure = async (stage, ground) => {
  const { client } = await stage.hub()
  const pgBoss = await opened(PgBossPeer.open(stage, ground, 'bulk'))
  const slurm = await opened(SlurmPeer.open(stage, ground, { slots: 8, node: false }))
  const ours = (count: number) => client.submitMany(Array.from({ length: count }, () => ({ type: 'noop' as const })))
  const bulk = await raceBeside(() => batchRate(JOBS, ours), {
    'pg-boss': turn(pgBoss, peer => batchRate(JOBS, count => peer.submitMany(count))),
  })
  const array = await raceBeside(() => batchRate(JOBS, array => client.submitAll([{ type: 'noop', array }])), {
    Slurm: turn(slurm, peer => batchRate(JOBS, count => peer.submitMany(count))),
  })
  return { othersBulk: bulk, othersArray: array }
}

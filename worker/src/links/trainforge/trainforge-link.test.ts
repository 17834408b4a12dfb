import { linkContract } from '../link-contract.ts'
import { TrainforgeHub } from '../test-trainforge-hub.ts'
import { makeTrainforge } from '../test-trainforge-worker.ts'

const NO_PROGRESS = { progress: 'no message of this dialect carries progress' }

linkContract({
  ...{ name: 'trainforge by poll', hub: () => new TrainforgeHub('workers'), make: makeTrainforge },
  cannot: NO_PROGRESS,
})
linkContract({
  ...{ name: 'trainforge with claims', hub: () => new TrainforgeHub('claims'), make: makeTrainforge },
  cannot: NO_PROGRESS,
})

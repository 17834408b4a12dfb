import type { MeasureName } from '../config.ts'
import { measureBacklog } from './backlog.ts'
import { measureBulk } from './bulk.ts'
import { measureCli } from './cli.ts'
import { measureCurves } from './curves.ts'
import type { Measure } from './ground.ts'
import { measureIdleCpu } from './idle-cpu.ts'
import { measureIdleWorkers } from './idle-workers.ts'
import { measureLatency } from './latency.ts'
import { measureMemory } from './memory.ts'
import { measureNoops } from './noop.ts'
import { measurePeersBulk } from './peers-bulk.ts'
import { measurePeersNoop } from './peers-noop.ts'
import { measurePeersProcesses } from './peers-processes.ts'
import { measurePeersProgramStart } from './peers-program-start.ts'
import { measurePeersStart } from './peers-start.ts'
import { measurePeersSubmit } from './peers-submit.ts'
import { measureProcesses, measureSandbox } from './processes.ts'
import { measureRecovery } from './recovery.ts'
import { measureShapes } from './shapes.ts'
import { measureSimulator } from './simulator.ts'
import { measureSubmits } from './submit.ts'

/** Every measure by the name the command line knows. */
export const ALL_MEASURES: Readonly<Record<MeasureName, Measure>> = {
  submit: measureSubmits,
  bulk: measureBulk,
  memory: measureMemory,
  latency: measureLatency,
  processes: measureProcesses,
  sandbox: measureSandbox,
  noop: measureNoops,
  recovery: measureRecovery,
  cli: measureCli,
  'peers-submit': measurePeersSubmit,
  'peers-bulk': measurePeersBulk,
  'peers-noop': measurePeersNoop,
  'peers-start': measurePeersStart,
  'peers-program-start': measurePeersProgramStart,
  'peers-processes': measurePeersProcesses,
  backlog: measureBacklog,
  shapes: measureShapes,
  'idle-workers': measureIdleWorkers,
  'idle-cpu': measureIdleCpu,
  simulator: measureSimulator,
  curves: measureCurves,
}

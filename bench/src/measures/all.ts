import type { MeasureName } from '../config.ts'
import { measureBacklog } from './backlog.ts'
import { measureBesideCpu } from './beside-cpu.ts'
import { measureBulk } from './bulk.ts'
import { measureCli } from './cli.ts'
import { measureContainerJob } from './container-job.ts'
import { measureCurves } from './curves.ts'
import type { Measure } from './ground.ts'
import { measureIdleCpu } from './idle-cpu.ts'
import { measureIdleWorkers } from './idle-workers.ts'
import { measureLatency } from './latency.ts'
import { measureLogLatency } from './log-latency.ts'
import { measureMemory } from './memory.ts'
import { measureNoops } from './noop.ts'
import { measurePeersBulk } from './peers-bulk.ts'
import { measurePeersNoop } from './peers-noop.ts'
import { measurePeersProcesses } from './peers-processes.ts'
import { measurePeersProgramStart } from './peers-program-start.ts'
import { measurePeersStart } from './peers-start.ts'
import { measurePeersSubmit } from './peers-submit.ts'
import { measureProcesses, measureSandbox } from './processes.ts'
import { measureQubix } from './qubix.ts'
import { measureRecovery } from './recovery.ts'
import { measureHandOver } from './session-hand-over.ts'
import { measureSessionRate } from './session-rate.ts'
import { measureShapes } from './shapes.ts'
import { measureSimulator } from './simulator.ts'
import { measureSoak } from './soak.ts'
import { measureFanOut } from './sse-fan-out.ts'
import { measureStartStall } from './start-stall.ts'
import { measureStreamingClients } from './streaming-clients.ts'
import { measureSubmits } from './submit.ts'
import { measureTextDelta } from './text-delta.ts'
import { measureUploads } from './uploads.ts'
import { measureWorkerRecovery } from './worker-recovery.ts'

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
  uploads: measureUploads,
  'log-latency': measureLogLatency,
  'sse-fan-out': measureFanOut,
  'beside-cpu': measureBesideCpu,
  'worker-recovery': measureWorkerRecovery,
  'start-stall': measureStartStall,
  'container-job': measureContainerJob,
  'session-rate': measureSessionRate,
  'session-hand-over': measureHandOver,
  'text-delta': measureTextDelta,
  'streaming-clients': measureStreamingClients,
  qubix: measureQubix,
  soak: measureSoak,
}

import type { MeasureName } from '../config.ts'
import { measureBesideCpu } from './beside-cpu.ts'
import { measureBulk } from './bulk.ts'
import { measureCli } from './cli.ts'
import type { Measure } from './ground.ts'
import { measureLatency } from './latency.ts'
import { measureLogLatency } from './log-latency.ts'
import { measureMemory } from './memory.ts'
import { measureNoops } from './noop.ts'
import { measureProcesses, measureSandbox } from './processes.ts'
import { measureRecovery } from './recovery.ts'
import { measureSoak } from './soak.ts'
import { measureFanOut } from './sse-fan-out.ts'
import { measureStartStall } from './start-stall.ts'
import { measureSubmits } from './submit.ts'
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
  uploads: measureUploads,
  'log-latency': measureLogLatency,
  'sse-fan-out': measureFanOut,
  'beside-cpu': measureBesideCpu,
  'worker-recovery': measureWorkerRecovery,
  'start-stall': measureStartStall,
  soak: measureSoak,
}

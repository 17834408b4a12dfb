import { gatewayContract } from '../gateway-contract.ts'
import { opensNative, TestNativeWorker } from './test-contract-worker.ts'

gatewayContract({
  dialect: 'native',
  opens: opensNative,
  join: TestNativeWorker.join,
  job: { type: 'custom_script', input: { script: 'print(1)', interpreter: 'sh' } },
  silenceMs: 13_000,
})

import { gatewayContract } from '../gateway-contract.ts'
import { opensQubix, TestProvider } from './test-contract-worker.ts'

gatewayContract({
  dialect: 'qubix',
  opens: opensQubix,
  join: TestProvider.join,
  job: { type: 'custom_script', input: { script: 'print(1)' } },
  silenceMs: 301_000,
})

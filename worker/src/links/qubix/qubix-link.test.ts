import { linkContract } from '../link-contract.ts'
import { QubixHub } from '../test-qubix-hub.ts'
import { makeQubix } from '../test-qubix-worker.ts'

linkContract({ name: 'qubix', hub: () => new QubixHub(), make: makeQubix })

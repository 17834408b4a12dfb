import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { afterAll } from 'vitest'
import { gatewayContract } from '../gateway-contract.ts'
import { TestNode } from './test-contract-worker.ts'
import { opensTrainForge } from './test-gateway.ts'

const folder = await mkdtemp(join(tmpdir(), 'stoker-trainforge-'))
const projects = join(folder, 'projects')
afterAll(() => removeTree(folder))

gatewayContract({
  dialect: 'trainforge',
  opens: opensTrainForge(projects),
  join: (house, name) => TestNode.join(house, name, projects),
  job: { command: 'true' },
  silenceMs: 91_000,
})

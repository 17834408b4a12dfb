import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isProgramType, type JobType, PROGRAM_TYPES, type Progress, parseSize } from '@stoker/protocol'
import { environmentLimit } from '../environment-limit.ts'
import { environmentKey } from '../environments/environment-key.ts'
import { makeRoom } from '../environments/make-room.ts'
import { Shelf } from '../environments/shelf.ts'
import { BUNDLED_PROGRAMS, environmentsFolder } from '../open-programs.ts'
import { findPythons } from '../probe/python.ts'
import { findPrograms } from '../programs/find-programs.ts'
import { GrownFiles } from '../run/grown-file.ts'
import { listEnvironments } from './list.ts'
import { withStore } from './machine.ts'

/** A program of its own, started by `stoker env`: looks after the environments of a worker's data folder, running or not. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: 'string' },
    environments: { type: 'string' },
    programs: { type: 'string' },
    'env-limit': { type: 'string' },
    'allow-unsandboxed': { type: 'boolean' },
    'allow-host-network': { type: 'boolean' },
    limit: { type: 'string' },
  },
})

try {
  process.stdout.write(`${JSON.stringify({ result: await run() })}\n`)
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`)
  process.exitCode = 1
}

async function run(): Promise<unknown> {
  const [deed, target = ''] = positionals
  const folder = environmentsFolder({ environmentsFolder: values.environments ?? null }, resolve(values.data ?? '.'))
  const limitBytes = environmentLimit(values['env-limit'])
  const programs = await findPrograms(resolve(values.programs ?? BUNDLED_PROGRAMS), () => {})
  const [python] = await findPythons()
  if (deed === 'list') return listEnvironments(folder, limitBytes, programs, python ?? null)
  if (deed === 'prune') return makeRoom(new Shelf(folder), pruneLimit() ?? limitBytes)
  if (python === undefined) throw new Error('no Python 3.10 or newer was found: nothing can be installed')
  const requirements = await requirementsOf(target)
  const wish = { requirements, python }
  const words = new GrownFiles()
  const options = {
    ...{ folder, limitBytes, python, env: process.env },
    allowUnsandboxed: values['allow-unsandboxed'] === true,
    allowHostNetwork: values['allow-host-network'] === true,
  }
  return withStore(options, async (store, holder) => {
    const wasThere = store.has(wish)
    await store.hold(wish, holder, {
      signal: stopped(),
      onOutput: (file, bytes) => words.read(file, bytes, piece => process.stderr.write(Buffer.from(piece))),
      onProgress: tell,
    })
    const { environments } = await listEnvironments(folder, limitBytes, programs, python)
    const environment = environments.find(({ key }) => key === environmentKey(wish))
    return { wasThere, environment: environment && { ...environment, inUse: environment.inUse - 1 } }
  })

  async function requirementsOf(word: string): Promise<string> {
    if (isProgramType(word as JobType)) {
      const program = programs.get(word)
      if (program === undefined) throw new Error(`no program of type ${word} came with this worker`)
      if (program.requirements === '') throw new Error(`${word} needs nothing but Python`)
      return program.requirements
    }
    return readFile(word, 'utf8').catch(error => {
      throw new Error(
        `${word} is neither a file of requirements (${error.code}) nor a type (${PROGRAM_TYPES.join(', ')})`,
      )
    })
  }
}

function pruneLimit(): number | null {
  if (values.limit === undefined) return null
  const bytes = parseSize(values.limit)
  if (bytes === null) throw new Error(`--limit is a size like 5GB, found ${values.limit}`)
  return bytes
}

function tell(progress: Progress): void {
  process.stdout.write(`${JSON.stringify({ progress })}\n`)
}

function stopped(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop.abort(new Error('stopped; nothing was installed')))
  return stop.signal
}

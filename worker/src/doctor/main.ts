import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { examineDevices } from './devices.ts'
import { examineFolder } from './folder.ts'
import { examinePrograms } from './programs.ts'
import { examineTypes } from './types.ts'

/** A program of its own, started by `stoker doctor`: looks at this machine as a worker would and prints what it found. */
const { values } = parseArgs({ options: { data: { type: 'string' } } })
if (values.data === undefined) {
  process.stderr.write('stoker doctor: --data names the data folder of a worker, found nothing\n')
  process.exit(1)
}
const data = resolve(values.data)
const parts = await Promise.all([
  examinePrograms(),
  examineDevices(process.env),
  examineFolder(data),
  examineTypes(data, process.env),
])
process.stdout.write(`${JSON.stringify({ findings: parts.flat() })}\n`)

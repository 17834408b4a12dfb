import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { zipOf } from '@stoker/files'

/** Writes a package of one module as pip would fetch it; answers the path of the wheel. */
export async function writeWheel(folder: string, name: string, version: string, module: string): Promise<string> {
  const info = `${name}-${version}.dist-info`
  const files = {
    [`${name}.py`]: module,
    [`${info}/METADATA`]: `Metadata-Version: 2.1\nName: ${name.replaceAll('_', '-')}\nVersion: ${version}\n`,
    [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: stoker\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  }
  const record = [...Object.keys(files), `${info}/RECORD`].map(path => `${path},,\n`).join('')
  const parts = Object.entries({ ...files, [`${info}/RECORD`]: record }).map(([path, text]) => ({
    ...{ path, size: Buffer.byteLength(text), executable: false, at: 0 },
    open: async () => Readable.from([Buffer.from(text)]),
  }))
  const wheel = join(folder, `${name}-${version}-py3-none-any.whl`)
  await pipeline(zipOf(parts), createWriteStream(wheel))
  return wheel
}

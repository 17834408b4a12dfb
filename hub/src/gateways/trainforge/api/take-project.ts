import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { MultipartFile, MultipartValue } from '@fastify/multipart'
import { untilClosed } from '@stoker/files'
import { formatSize, Refused } from '@stoker/protocol'
import type { FastifyRequest } from 'fastify'
import { cutWhenSilent } from '../../../serving/cut-when-silent.ts'
import { parseJson } from '../../../serving/parse-json.ts'
import { badRequest, ConsumerError } from './consumer-error.ts'
import type { ConsumerContext } from './context.ts'
import { partsOf } from './parts-of.ts'

/** A program gets it in one variable of its environment, which has little more room. */
const MAX_CONFIG_BYTES = 64 * 1024
const MAX_PROJECT_BYTES = 2 ** 30

/** A project as it came: its zip in a file of its own, hashed on the way. */
export interface TakenProject {
  readonly config: unknown
  readonly fields: ReadonlyMap<string, string>
  readonly zip: { readonly file: string; readonly sha256: string; readonly size: number }
}

/** Reads a multipart body with `config` and `project_zip`; `use` has the file as long as it works. */
export async function takeProject<T>(
  { scratch, newId, maxProjectBytes = MAX_PROJECT_BYTES }: ConsumerContext,
  request: FastifyRequest,
  use: (project: TakenProject) => Promise<T>,
): Promise<T> {
  if (!request.isMultipart())
    throw badRequest('the body is not multipart/form-data; it has a "config" (JSON) and a "project_zip" (a zip file)')
  const file = join(scratch, `${newId()}.zip`)
  const release = cutWhenSilent(request.raw)
  try {
    const taken = await takeParts(request, file, maxProjectBytes).catch(error => {
      throw isOurs(error) ? error : badRequest(`the body cannot be read: ${(error as Error).message}`)
    })
    release()
    return await use(taken)
  } finally {
    release()
    await rm(file, { force: true })
  }
}

/** What we threw ourselves, what the reader of forms has a status for, and what is no fault of the body. */
function isOurs(error: unknown): boolean {
  const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown }
  return error instanceof ConsumerError || error instanceof Refused || code === 'ENOSPC' || statusCode !== undefined
}

async function takeParts(request: FastifyRequest, file: string, most: number): Promise<TakenProject> {
  const fields = new Map<string, string>()
  let config: unknown
  let zip: TakenProject['zip'] | null = null
  const limits = { fileSize: most, fieldSize: MAX_CONFIG_BYTES, files: 4, fields: 32, parts: 36, headerPairs: 100 }
  for await (const part of partsOf(request, limits)) {
    if (part.type === 'file' && part.fieldname === 'project_zip') zip = await takeZip(part, file, most, zip !== null)
    else if (part.fieldname === 'config')
      config = parsedConfig(part.type === 'file' ? await textOf(part) : textIn(part))
    else if (part.type === 'file') part.file.resume()
    else fields.set(part.fieldname, String(textIn(part)))
  }
  if (config === undefined) throw badRequest('missing "config": the project configuration as JSON')
  if (zip === null) throw badRequest('missing "project_zip": the project as a zip file')
  if (zip.size === 0) throw badRequest('"project_zip" is empty')
  return { config, fields, zip }
}

async function takeZip(part: MultipartFile, file: string, most: number, isSecond: boolean) {
  if (isSecond) throw badRequest('"project_zip" came twice')
  const hash = createHash('sha256')
  let size = 0
  const count = async function* (body: AsyncIterable<Buffer>) {
    for await (const chunk of body) {
      hash.update(chunk)
      size += chunk.length
      yield chunk
    }
  }
  const target = createWriteStream(file, { mode: 0o600, flags: 'wx' })
  await pipeline(part.file, count, target).finally(() => untilClosed(target))
  if (part.file.truncated)
    throw new ConsumerError(
      413,
      'Payload too large',
      `"project_zip" has more than ${formatSize(most)}, the most that is taken`,
    )
  return { file, sha256: hash.digest('hex'), size }
}

async function textOf({ file }: MultipartFile): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const chunk of file as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size <= MAX_CONFIG_BYTES) parts.push(chunk)
  }
  if (size > MAX_CONFIG_BYTES) throw tooLong('config')
  return Buffer.concat(parts).toString('utf8')
}

function textIn({ value, valueTruncated, fieldname }: MultipartValue & { readonly valueTruncated?: boolean }): unknown {
  if (valueTruncated === true) throw tooLong(fieldname)
  return value
}

/** A part that says it is JSON comes parsed. */
function parsedConfig(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return parseJson(value)
  } catch (error) {
    throw badRequest(`"config": ${(error as Error).message}`)
  }
}

function tooLong(name: string): ConsumerError {
  const most = formatSize(MAX_CONFIG_BYTES)
  return new ConsumerError(
    413,
    'Payload too large',
    `"${name.slice(0, 100)}" has more than ${most}, the most that is read`,
  )
}

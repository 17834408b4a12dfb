import { Readable } from 'node:stream'
import {
  type Artifact,
  ArtifactPage,
  type ArtifactRow,
  type JobRow,
  MAX_ARTIFACTS,
  Problem,
  Refused,
} from '@stoker/protocol'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Blobs } from '../outputs/artifacts/port.ts'
import { type TarFile, tarOf, tarSize } from '../outputs/artifacts/tar.ts'
import { isShown, mediaType } from '../serving/media-types.ts'
import { callerOf, guard } from './auth.ts'
import { Bytes } from './blobs.ts'
import type { Api, RouteContext } from './context.ts'
import { findJob } from './job-ref.ts'
import { JobRef } from './jobs.ts'
import { attachment, sendContent } from './send-content.ts'
import { refuseValue } from './validation.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const tags = ['jobs']
const attempt = z.coerce.number().int().min(1).max(999_999_999).optional()
const MAX_PAGE = 1000
const ListQuery = z.strictObject({
  attempt,
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(MAX_PAGE),
  cursor: z
    .string()
    .transform((given, context) => parsePlace(given) ?? refuseValue(context, 'allowed: the "next" of an earlier page'))
    .optional(),
})

/** What attempts left; without `attempt`, the last one's. */
export function addArtifactRoutes(api: Api, context: RouteContext): void {
  const { queries, blobs, tokens } = context
  const onRequest = guard(tokens, ['admin', 'submit', 'read'])

  api.get('/api/v1/jobs/:id/artifacts', {
    schema: {
      summary: 'List what an attempt left, in the order of paths',
      tags,
      params: JobRef,
      querystring: ListQuery,
      response: { 200: ArtifactPage, ...errors },
    },
    onRequest,
    handler: async request => {
      const { limit, cursor } = request.query
      const job = await findJob(queries, callerOf(request), request.params.id)
      const number = attemptNumber(job, request.query.attempt)
      const rows = await queries.artifacts(job.seq, number, cursor ?? '', limit + 1)
      const { bytes } = await queries.artifactUse(job.seq, number)
      const last = rows[limit - 1]
      const next = rows.length > limit && last !== undefined ? { next: placeAfter(last.path) } : {}
      return { artifacts: rows.slice(0, limit).map(viewArtifact), bytes, ...next }
    },
  })

  api.route({
    method: ['GET', 'HEAD'],
    url: '/api/v1/jobs/:id/artifacts/*',
    schema: {
      summary: 'Read one artifact, whole or a range',
      tags,
      params: z.object({ id: z.string(), '*': z.string() }),
      querystring: z.strictObject({ attempt }),
      response: { 200: Bytes, 206: Bytes, 304: z.null(), ...errors },
    },
    onRequest,
    handler: async (request, reply) => {
      const job = await findJob(queries, callerOf(request), request.params.id)
      const number = attemptNumber(job, request.query.attempt)
      const path = request.params['*']
      const row = await queries.artifact(job.seq, number, path)
      if (row === null)
        throw new Refused(
          'artifact.not_found',
          `attempt ${number} of job ${job.id} left no file ${JSON.stringify(path.slice(0, 200))}`,
        )
      const type = mediaType(path)
      return sendContent(blobs, request, reply, {
        owner: row.owner,
        sha256: row.sha256,
        size: row.size,
        type: type.startsWith('text/') ? `${type}; charset=utf-8` : type,
        saveAs: isShown(type) ? null : (path.split('/').at(-1) ?? path),
      })
    },
  })

  api.get('/api/v1/jobs/:id/artifacts.tar', {
    schema: {
      summary: 'All an attempt left, as one archive in the order of paths',
      tags,
      params: JobRef,
      querystring: z.strictObject({ attempt }),
      response: { 200: { content: { 'application/x-tar': Bytes.content['application/octet-stream'] } }, ...errors },
    },
    exposeHeadRoute: false,
    onRequest,
    handler: async (request, reply) => {
      const job = await findJob(queries, callerOf(request), request.params.id)
      const rows = await queries.artifacts(job.seq, attemptNumber(job, request.query.attempt), '', MAX_ARTIFACTS)
      const files = rows.map(row => ({ ...row, executable: row.executable === 1, at: job.endedAt ?? job.submittedAt }))
      return sendTar(reply, blobs, files, job.id)
    },
  })
}

function sendTar(reply: FastifyReply, blobs: Blobs, files: readonly TarFile[], jobId: string): FastifyReply {
  return reply
    .header('content-type', 'application/x-tar')
    .header('content-length', tarSize(files))
    .header('content-disposition', attachment(`${jobId.slice(-12)}.tar`))
    .header('x-content-type-options', 'nosniff')
    .send(Readable.from(tarOf(files, file => blobs.read(file, 0, file.size - 1))))
}

function attemptNumber(job: JobRow, asked: number | undefined): number {
  if (asked !== undefined && asked > job.attempts)
    throw new Refused('request.invalid', `attempt: found ${asked}; the job has had ${job.attempts}`)
  return asked ?? job.attempts
}

function viewArtifact({ path, size, sha256, executable }: ArtifactRow): Artifact {
  return { path, size, sha256, type: mediaType(path), executable: executable === 1 }
}

/** Where the next page begins; opaque to callers. */
function placeAfter(path: string): string {
  return Buffer.from(`p${path}`).toString('base64url')
}

function parsePlace(cursor: string): string | null {
  const text = Buffer.from(cursor, 'base64url').toString()
  return text.startsWith('p') && placeAfter(text.slice(1)) === cursor ? text.slice(1) : null
}
